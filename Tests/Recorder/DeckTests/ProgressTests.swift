import Takes
import TestBench
import Testing
import Transport

@testable import Deck

@Suite struct ProgressTests {
    @Test func `the position of an open card goes on while it delivers, and stands still while it does not`() throws {
        let rig = try Rig()
        #expect(rig.deck.capturePosition == 0)
        rig.run(.seconds(1))
        #expect(rig.deck.capturePosition == 8000)
        rig.card.isPresent = false
        rig.run(.seconds(3))
        #expect(rig.deck.capturePosition == 8000)
    }

    @Test func `there is no position without a card, after the card is lost, at rest, and in closed standby`() throws {
        let absent = try Rig(isCardPresent: false)
        #expect(absent.deck.capturePosition == nil)
        let lost = try Rig()
        lost.press(.record)
        lost.run(.seconds(1))
        lost.card.unplug()
        lost.deck.ready(now: lost.clock.now())
        #expect(lost.deck.state == .recording)
        #expect(lost.deck.capturePosition == nil)
        let resting = try Rig()
        resting.deck.finish {}
        #expect(resting.deck.capturePosition == nil)
        let closed = try Rig { $0.isListening = false }
        closed.run(.seconds(3))
        #expect(closed.deck.capturePosition == nil)
        closed.press(.record)
        closed.run(.seconds(1))
        #expect(closed.deck.capturePosition ?? 0 > 0)
    }

    @Test func `the summary says what goes on and what is wrong`() throws {
        let rig = try Rig()
        rig.run(.milliseconds(200))
        #expect(rig.deck.summary == "armed")
        rig.press(.record)
        rig.run(.seconds(1))
        let stem = try #require(rig.deck.status.take)
        #expect(rig.deck.summary == "recording \(stem)")
        let absent = try Rig(isCardPresent: false) { $0.faults = [Fault(.settings, "two keys are wrong")] }
        #expect(
            absent.deck.summary
                == "fault; fault 1: capture: no card: nothing is plugged in: plug in a microphone; "
                + "fault 7: two keys are wrong")
    }
}
