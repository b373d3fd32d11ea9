import Files
import Panel
import Ring
import ScriptedPlayback
import Takes
import TestBench
import Testing
import Transport

@testable import Deck

@Suite struct PlaybackFailureTests {
    private func rig(_ configure: (inout DeckOptions) -> Void = { _ in }) throws -> Rig {
        let rig = try Rig(configure)
        rig.run(.milliseconds(300))
        rig.press(.record)
        rig.run(.milliseconds(1500))
        rig.press(.stop)
        rig.settle()
        return rig
    }

    /// The result of a command, and the time of its report.
    private final class Outcome {
        var text: String?

        func note(_ result: Result<Status, Refusal>) {
            switch result {
            case .success(let status): text = "\(status.state.rawValue) \(status.take ?? "-")"
            case .failure(let refusal): text = "\(refusal.code.rawValue): \(refusal.message)"
            }
        }
    }

    private func perform(_ command: Command, on rig: Rig) -> Outcome {
        let outcome = Outcome()
        rig.deck.perform(command, outcome.note)
        rig.run(.milliseconds(50), step: .milliseconds(5))
        return outcome
    }

    @Test func `commands that do not fit are refused in one sentence, and change nothing`() throws {
        let empty = try Rig()
        empty.run(.milliseconds(100))
        #expect(perform(.play(nil), on: empty).text == "not-found: play: no take yet in \(empty.directory)")
        #expect(empty.deck.indication.answer?.kind == .refused)
        let rig = try rig()
        #expect(perform(.pause, on: rig).text == "busy: pause: nothing is being played: play a take first")
        #expect(perform(.skip(seconds: 5), on: rig).text == "busy: skip: nothing is being played: play a take first")
        #expect(
            perform(.play(.number(9)), on: rig).text == "not-found: play: 9: no such take in \(rig.directory)")
        #expect(rig.deck.state == .idle)
        let stem = try #require(rig.deck.selection.selected?.stem)
        #expect(perform(.play(.last), on: rig).text == "playing \(stem)")
        #expect(
            perform(.discard(stem: stem), on: rig).text == "busy: discard: \(stem) is being played: stop it first")
        #expect(perform(.play(.number(9)), on: rig).text == "not-found: play: 9: no such take in \(rig.directory)")
        #expect(rig.deck.state == .playing)
        #expect(perform(.pause, on: rig).text == "paused \(stem)")
        #expect(perform(.pause, on: rig).text == "paused \(stem)")
        #expect(perform(.volume(0.1), on: rig).text == "paused \(stem)")
        #expect(perform(.play(nil), on: rig).text == "playing \(stem)")
        #expect(perform(.play(nil), on: rig).text == "playing \(stem)")
        #expect(perform(.play(.last), on: rig).text == "playing \(stem)")
        #expect(rig.deck.status.positionSeconds ?? 1 < 0.1)
        #expect(perform(.stop, on: rig).text == "idle \(stem)")
        #expect(perform(.stop, on: rig).text == "idle -")
        #expect(perform(.volume(0.2), on: rig).text == "idle -")
        #expect(perform(.record, on: rig).text?.hasPrefix("recording") ?? false)
        #expect(perform(.play(nil), on: rig).text?.hasPrefix("busy: play: ") ?? false)
    }

    @Test func `a card that cannot play is reported, and the deck is idle and armed again`() throws {
        let rig = try rig()
        rig.sink.refusal = { .init(text: "play: card:Mic: it does not play") }
        #expect(perform(.play(nil), on: rig).text == "io: play: card:Mic: it does not play")
        #expect(rig.deck.state == .idle)
        #expect(rig.deck.indication.answer?.kind == .refused)
        #expect(rig.deck.status.armed)
        #expect(!rig.sink.isOpen)
        #expect(rig.sink.requests.count == 1 && rig.card.opened.count == 1)
        // One attempt with the recording card open, one without.
        rig.sink.refusal = { .init(text: "play: card:Mic: busy", isInUse: true) }
        #expect(perform(.play(nil), on: rig).text == "io: play: card:Mic: busy")
        #expect(rig.sink.requests.count == 3)
        // The card was opened again, and the kit is armed once it delivers.
        rig.run(.milliseconds(200))
        #expect(rig.deck.status.armed)
    }

    @Test func `a card that cannot do both is closed for the player, and armed again afterwards`() throws {
        let rig = try rig()
        rig.sink.refusal = { [card = rig.card] in
            card.isOpen ? .init(text: "play: card:Scripted: busy", isInUse: true) : nil
        }
        rig.press(.play)
        rig.run(.milliseconds(100), step: .milliseconds(5))
        #expect(rig.deck.state == .playing)
        #expect(!rig.card.isOpen)
        rig.run(.seconds(5))
        #expect(rig.deck.state == .idle)
        #expect(rig.card.isOpen)
        #expect(rig.deck.status.armed)
        // A pause still applies if it came before it was known that the card must be closed.
        rig.deck.handle(.press(.play, at: rig.clock.now()))
        rig.deck.handle(.press(.play, at: rig.clock.now()))
        rig.run(.milliseconds(100), step: .milliseconds(5))
        #expect(rig.deck.state == .paused)
        #expect(rig.deck.status.positionSeconds == 0)
        rig.press(.stop)
        rig.run(.milliseconds(100), step: .milliseconds(5))
        // Record starts a take even while the card is closed for the player.
        rig.press(.play)
        rig.run(.milliseconds(500), step: .milliseconds(5))
        rig.press(.record)
        rig.run(.milliseconds(500), step: .milliseconds(5))
        #expect(rig.deck.state == .recording)
        rig.press(.stop)
        rig.settle()
        #expect(try rig.sidecars().count == 2)
    }

    @Test func `a card that goes while it plays ends the playing with its own words`() throws {
        let rig = try rig()
        rig.press(.play)
        rig.run(.milliseconds(300), step: .milliseconds(5))
        rig.sink.failure = "play: card:Scripted: the card is gone"
        rig.run(.milliseconds(500), step: .milliseconds(5))
        #expect(rig.deck.state == .idle)
        #expect(rig.log.messages.last == "play: card:Scripted: the card is gone")
        #expect(rig.deck.indication.answer?.kind == .refused)
    }

    @Test func `a card that plays nothing is given up`() throws {
        let rig = try rig()
        rig.press(.play)
        rig.run(.milliseconds(300), step: .milliseconds(5))
        rig.sink.isStuck = true
        rig.run(.seconds(2))
        #expect(rig.deck.state == .playing)
        rig.run(.seconds(2))
        #expect(rig.deck.state == .idle)
        #expect(rig.log.messages.last == "play: card:Scripted: it played nothing for 3.0 s")
    }

    @Test(arguments: [false, true])
    func `a card that stalls while it is to be silent is given up, and the record button is not kept waiting`(
        paused: Bool
    ) throws {
        let rig = try rig()
        rig.press(.play)
        rig.run(.milliseconds(300), step: .milliseconds(5))
        rig.sink.isStuck = true
        if paused { rig.press(.play) }
        rig.press(.record)
        let outcome = Outcome()
        rig.deck.perform(.stop, outcome.note)
        rig.run(.seconds(5))
        #expect(rig.deck.state == .idle)
        #expect(try rig.sidecars().count == 2)
        #expect(outcome.text?.hasPrefix("idle") ?? false)
        rig.deck.finish { outcome.text = "finished" }
        #expect(outcome.text == "finished")
    }

    @Test func `a card that counts more than it was given does no harm`() throws {
        let rig = try rig()
        rig.sink.canTakeBack = false
        rig.sink.elsewhere = 3000
        rig.press(.play)
        rig.run(.milliseconds(10), step: .milliseconds(5))
        rig.deck.perform(.volume(0.5)) { _ in }
        rig.run(.milliseconds(100), step: .milliseconds(5))
        rig.deck.perform(.skip(seconds: -1)) { _ in }
        rig.run(.milliseconds(100), step: .milliseconds(5))
        rig.press(.play)
        rig.run(.milliseconds(1000), step: .milliseconds(5))
        #expect(rig.deck.state == .paused)
        rig.press(.stop)
        rig.run(.milliseconds(1000), step: .milliseconds(5))
        #expect(rig.deck.state == .idle)
    }

    @Test func `what the kit plays itself says nothing about its microphones`() throws {
        let rig = try rig()
        rig.card.sample = 32767
        rig.press(.play)
        rig.run(.milliseconds(1000), step: .milliseconds(5))
        rig.press(.stop)
        rig.run(.milliseconds(45), step: .milliseconds(5))
        #expect(rig.deck.state == .idle)
        rig.card.sample = nil
        for _ in 0..<50 {
            rig.run(.milliseconds(100))
            #expect(rig.deck.status.faults == [])
        }
    }

    @Test func `shutting down answers the commands that wait`() throws {
        let rig = try rig()
        rig.press(.play)
        rig.run(.milliseconds(300), step: .milliseconds(5))
        let outcome = Outcome()
        rig.deck.perform(.record, outcome.note)
        rig.deck.finish {}
        #expect(outcome.text == "busy: the kit is shutting down")
    }

    @Test func `without the folder for takes the error names it`() throws {
        let rig = try Rig { $0.directory = "/nowhere/takes" }
        rig.run(.milliseconds(100))
        #expect(perform(.play(nil), on: rig).text?.hasPrefix("io: play: storage: ") ?? false)
    }

    @Test func `a take whose sound is not there is refused in one sentence`() throws {
        let rig = try rig()
        let take = try #require(rig.deck.selection.selected)
        let path = "\(rig.directory)/\(take.day)"
        try FileSystem().remove("\(path)/\(take.stem).wav")
        #expect(
            perform(.play(nil), on: rig).text
                == "io: play: \(take.stem): its file \(path)/\(take.stem).wav is not there")
        #expect(rig.deck.status.armed)
    }

    @Test func `shutting down ends the playing first`() throws {
        let rig = try rig()
        rig.press(.play)
        rig.run(.milliseconds(300), step: .milliseconds(5))
        rig.deck.handle(.shutdown(at: rig.clock.now()))
        rig.deck.handle(.press(.record, at: rig.clock.now()))
        #expect(rig.powerOffs == 0)
        rig.run(.milliseconds(100), step: .milliseconds(5))
        #expect(rig.powerOffs == 1)
        #expect(rig.deck.state == .idle)
        #expect(!rig.sink.isOpen)
        #expect(try rig.sidecars().count == 1)
    }
}
