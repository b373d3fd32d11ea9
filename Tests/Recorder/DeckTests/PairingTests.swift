import Panel
import ScriptedPlayback
import Takes
import TestBench
import Testing
import Transport

@testable import Deck

/// Play is held, so that phones may pair for two minutes.
@Suite struct DeckPairingTests {
    private static let opened = "pairing: phones may pair for 120 s"

    /// Holds play for 3 s from now.
    /// - Returns: the time at which pairing begins.
    @discardableResult
    private func holdPlay(_ rig: Rig) -> Instant {
        let pressed = rig.clock.now()
        rig.press(.play)
        rig.run(pressed + .seconds(3) - rig.clock.now())
        rig.deck.handle(.pair(pressed: pressed))
        rig.work()
        return rig.clock.now()
    }

    private func openings(_ rig: Rig) -> Int { rig.log.messages.count { $0 == Self.opened } }

    /// A rig with a take of two seconds.
    private func rigWithTake() throws -> Rig {
        let rig = try Rig()
        rig.run(.milliseconds(500))
        rig.press(.record)
        rig.run(.seconds(20))
        rig.press(.stop)
        rig.settle()
        return rig
    }

    @Test func `pairing lasts for two minutes, in the status and on the lamp, and ends by itself at once`() throws {
        let rig = try Rig()
        rig.run(.milliseconds(500))
        var display = Display()
        var published: [Bool] = []
        rig.onEvent = { [unowned rig] event in
            guard case .changed = event else { return }
            display.show(rig.deck.indication, at: rig.clock.now())
            if published.last != rig.deck.status.pairing { published.append(rig.deck.status.pairing) }
        }
        func upload(_ length: Duration = .seconds(1)) -> LampTrace {
            LampTrace(of: .upload, on: display, from: rig.clock.now(), for: length)
        }
        rig.turn()
        #expect(upload().isDark)
        let end = holdPlay(rig) + .seconds(120)
        #expect(rig.deck.status.pairing)
        #expect(rig.deck.indication.isPairing)
        #expect(upload().flashes == 10)
        #expect(openings(rig) == 1)
        let left: Duration = end - rig.clock.now()
        rig.run(left - .milliseconds(70), step: .milliseconds(90))
        #expect(rig.deck.status.pairing)
        // The loop must be woken when pairing ends.
        #expect(rig.deck.turn(now: rig.clock.now()) == end)
        rig.clock.advance(by: end - rig.clock.now())
        // This holds even before the loop has turned.
        #expect(!rig.deck.status.pairing)
        #expect(!rig.deck.indication.isPairing)
        #expect(published == [false, true])
        _ = rig.deck.turn(now: rig.clock.now())
        #expect(published == [false, true, false])
        #expect(upload(.seconds(10)).isDark)
        #expect(rig.deck.pairing.end == nil)
        #expect(openings(rig) == 1)
    }

    @Test func `play held again extends it`() throws {
        let rig = try Rig()
        rig.run(.milliseconds(500))
        holdPlay(rig)
        rig.run(.seconds(100), step: .milliseconds(500))
        let end = holdPlay(rig) + .seconds(120)
        #expect(openings(rig) == 2)
        let left: Duration = end - rig.clock.now()
        rig.run(left - .milliseconds(10), step: .milliseconds(500))
        #expect(rig.deck.status.pairing)
        rig.run(.milliseconds(10))
        #expect(!rig.deck.status.pairing)
    }

    @Test func `a right code ends it on the lamp, and play held again opens it`() throws {
        let rig = try Rig()
        rig.run(.milliseconds(500))
        #expect(rig.deck.take(codeThatIsRight: true) == .closed)
        holdPlay(rig)
        #expect(rig.deck.take(codeThatIsRight: false) == .wrong(left: 4))
        #expect(rig.deck.status.pairing)
        #expect(rig.deck.take(codeThatIsRight: true) == .accepted)
        #expect(!rig.deck.status.pairing && !rig.deck.indication.isPairing)
        #expect(rig.deck.take(codeThatIsRight: true) == .closed)
        holdPlay(rig)
        #expect(rig.deck.status.pairing)
    }

    @Test func `five wrong codes end it, in the log and the history`() throws {
        let rig = try Rig()
        var events: [PhoneEvent] = []
        rig.onEvent = { if case .happened(.phone(let event)) = $0 { events.append(event) } }
        rig.run(.milliseconds(500))
        holdPlay(rig)
        let answers = (0..<6).map { _ in rig.deck.take(codeThatIsRight: false) }
        #expect(answers == [.wrong(left: 4), .wrong(left: 3), .wrong(left: 2), .wrong(left: 1), .lastWrong, .closed])
        #expect(!rig.deck.status.pairing && rig.deck.take(codeThatIsRight: true) == .closed)
        #expect(events == [PhoneEvent(.wrongCodes)])
        #expect(rig.log.messages.last == "pairing: 5 codes were wrong: no phone may pair until play is held again")
    }

    @Test func `what play began is stopped, what it paused stays paused, and what it resumed is paused again`() throws {
        let rig = try rigWithTake()
        holdPlay(rig)
        rig.run(.seconds(1))
        #expect(rig.deck.state == .idle)
        #expect(!rig.sink.isOpen)
        #expect(rig.deck.status.pairing)
        #expect(rig.deck.isArmed)

        rig.press(.play)
        rig.run(.seconds(1))
        holdPlay(rig)
        #expect(rig.deck.state == .paused)
        rig.run(.milliseconds(500))
        let position = rig.deck.status.positionSeconds
        holdPlay(rig)
        rig.run(.milliseconds(500))
        #expect(rig.deck.state == .paused)
        #expect(rig.deck.indication.playback == .paused)
        // The take was played while play was held.
        let moved = try #require(rig.deck.status.positionSeconds) - (try #require(position))
        #expect(abs(moved - 3) < 0.2, "\(moved)")
        #expect(openings(rig) == 3)
    }

    @Test func `a take that is recorded goes on`() throws {
        let rig = try Rig()
        rig.run(.milliseconds(500))
        rig.press(.record)
        rig.run(.milliseconds(985))
        holdPlay(rig)
        #expect(rig.deck.status.pairing)
        #expect(rig.deck.indication.recording != nil)
        rig.run(.milliseconds(985))
        rig.press(.stop)
        rig.settle()
        let sidecar = try #require(try rig.sidecars().first)
        #expect(sidecar.frames == 8 * (1000 + 3000 + 985))
        #expect(sidecar.markers.isEmpty && sidecar.gaps.isEmpty && sidecar.endedBy == .stop)
    }

    @Test func `back and forward held ask for an access point, and let phones pair`() throws {
        let rig = try Rig()
        var requests = 0
        rig.onEvent = { if case .openAccess = $0 { requests += 1 } }
        rig.run(.milliseconds(500))
        rig.deck.handle(.openAccess(at: rig.clock.now()))
        #expect(requests == 1 && rig.deck.status.pairing)
    }

    @Test func `stop and play held ask the library to adopt the stick that it offers, and are refused without one`()
        throws
    {
        let rig = try Rig()
        var wishes: [PanelWish] = []
        rig.onEvent = { if case .wish(let wish) = $0 { wishes.append(wish) } }
        rig.run(.milliseconds(500))
        rig.deck.handle(.adoptStick(pressed: rig.clock.now()))
        #expect(wishes == [] && rig.deck.indication.answer?.kind == .refused)
        #expect(
            rig.log.messages.last == "stick: stop and play were held, and no unknown stick is in")
        rig.deck.upload = .stickOffered
        rig.deck.handle(.adoptStick(pressed: rig.clock.now()))
        #expect(wishes == [.adoptStick])
    }

    @Test func `a locked panel does not open it, and says so`() throws {
        let rig = try Rig()
        rig.run(.milliseconds(500))
        rig.deck.handle(.lock(at: rig.clock.now()))
        holdPlay(rig)
        #expect(!rig.deck.status.pairing)
        #expect(rig.deck.indication.answer?.kind == .refused)
        #expect(
            rig.log.messages.last == "pair: the panel is locked: hold back and stop together to unlock it")
    }
}
