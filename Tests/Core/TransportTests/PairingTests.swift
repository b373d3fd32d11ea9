import Takes
import Testing
import Transport

/// Holding play, in each phase.
@Suite struct PairingTests {
    private let now = Instant(nanoseconds: 50_000_000_000)
    private let take = TransportModel.name(7)
    private var pressed: Instant { now + .seconds(10) }
    private var facts: TransportFacts { TransportFacts(now: pressed + .seconds(3), selected: take) }

    private func state(_ events: [TransportEvent] = [], _ facts: TransportFacts? = nil) -> TransportState {
        var state = TransportState(rules: TransportRules())
        for event in events { _ = state.handle(event, facts ?? self.facts) }
        return state
    }

    /// The effects of the press of play and of the hold after it.
    private func hold(_ state: inout TransportState) -> [[TransportEffect]] {
        [state.handle(.press(.play, at: pressed), facts), state.handle(.pair(pressed: pressed), facts)]
    }

    private var recording: [TransportEvent] { [.press(.record, at: now), .takeBegan(take)] }
    private var playing: [TransportEvent] { [.press(.play, at: now), .playBegan] }
    private var paused: [TransportEvent] { playing + [.press(.play, at: now + .seconds(1)), .playChanged] }

    @Test func `what the press began to play is stopped, open or not`() {
        var idle = state()
        #expect(hold(&idle) == [[.play(take)], [.stopPlaying, .pair]])
        #expect(idle.handle(.playEnded(failure: nil), facts) == [])
        #expect(idle.phase == .idle)

        idle = state()
        _ = idle.handle(.press(.play, at: pressed), facts)
        _ = idle.handle(.playBegan, facts)
        #expect(idle.handle(.pair(pressed: pressed), facts) == [.stopPlaying, .pair])

        // Playback is stopped even if it was moved or paused in the meantime.
        for event in [TransportEvent.press(.forward, at: pressed), .change(.pause, by: Asker(1))] {
            idle = state()
            _ = idle.handle(.press(.play, at: pressed), facts)
            _ = idle.handle(event, facts)
            #expect(idle.handle(.pair(pressed: pressed), facts) == [.stopPlaying, .pair])
        }
    }

    @Test func `an access point is asked for, with pairing, in each phase that goes on, and changes none`() {
        for events in [[], recording, playing, paused] {
            var state = state(events)
            let before = state
            #expect(state.handle(.openAccess(at: pressed), facts) == [.openAccess, .pair])
            #expect(state == before)
        }
        var state = state([.shutdown(at: now)])
        #expect(state.handle(.openAccess(at: pressed), facts) == [])
        state = self.state([.lock(at: now)])
        let refusal = Refusal(.busy, "access point: the panel is locked: hold back and stop together to unlock it")
        #expect(state.handle(.openAccess(at: pressed), facts) == [.refuse(refusal)])
    }

    @Test func `stop and play held adopt a stick in each phase that goes on, and what play began is stopped`() {
        for events in [[], recording, playing, paused] {
            var state = state(events)
            let before = state
            #expect(state.handle(.adoptStick(pressed: pressed), facts) == [.adoptStick])
            #expect(state == before)
        }
        var state = state([.press(.play, at: pressed), .playBegan])
        #expect(state.handle(.adoptStick(pressed: pressed), facts) == [.stopPlaying, .adoptStick])
        state = self.state([.shutdown(at: now)])
        #expect(state.handle(.adoptStick(pressed: pressed), facts) == [])
        state = self.state([.lock(at: now)])
        let refusal = Refusal(.busy, "stick: the panel is locked: hold back and stop together to unlock it")
        #expect(state.handle(.adoptStick(pressed: pressed), facts) == [.refuse(refusal)])
    }

    @Test func `a locked panel does not keep an empty battery from ending the take`() {
        var state = state(recording + [.lock(at: now)])
        guard case .refuse? = state.handle(.shutdown(at: pressed), facts).first else { return #expect(Bool(false)) }
        let effects = state.handle(.shutdown(at: pressed, because: .battery), facts)
        #expect(effects.contains { if case .end = $0 { true } else { false } })
        #expect(state.handle(.takeFinished(take, hasTail: false), facts).contains(.powerOff))
    }

    @Test func `without a take the press is refused, and pairing is opened`() {
        var idle = state()
        let bare = TransportFacts(now: pressed)
        #expect(idle.handle(.press(.play, at: pressed), bare) == [.refuse(bare.noTake)])
        #expect(idle.handle(.pair(pressed: pressed), bare) == [.pair])
    }

    @Test func `a take that was over before is not stopped, and neither is one that something else began`() {
        var idle = state([.press(.play, at: pressed), .playBegan, .playEnded(failure: nil)])
        #expect(idle.handle(.pair(pressed: pressed), facts) == [.pair])
        for other in [TransportEvent.press(.play, at: pressed - .seconds(5)), .play(nil, by: Asker(1))] {
            var state = state([.press(.play, at: pressed), .playBegan, .playEnded(failure: nil), other, .playBegan])
            #expect(state.handle(.pair(pressed: pressed), facts) == [.pair])
            #expect(state.deckState(isBlocked: false) == .playing)
        }
    }

    @Test func `a take that the press paused stays paused`() {
        var state = state(playing)
        #expect(hold(&state) == [[.change(.pause)], [.pair]])
        #expect(state.deckState(isBlocked: false) == .paused)
    }

    @Test func `a take that the press resumed is paused again, once`() {
        var resumed = state(paused)
        #expect(hold(&resumed) == [[.change(.resume)], [.change(.pause), .pair]])
        #expect(resumed.deckState(isBlocked: false) == .paused)
        #expect(resumed.handle(.pair(pressed: pressed), facts) == [.pair])
        // No client gets the player's answers.
        for _ in 0..<2 { #expect(resumed.handle(.playChanged, facts) == []) }

        resumed = state(paused + [.press(.play, at: pressed), .change(.pause, by: Asker(1))])
        #expect(resumed.handle(.pair(pressed: pressed), facts) == [.pair])
    }

    @Test func `while a take is recorded the press is refused, pairing is opened, and the take goes on`() {
        var state = state(recording)
        let before = state
        let refused = TransportEffect.refuse(Refusal(.busy, "play: refused while a take is recorded"))
        #expect(hold(&state) == [[refused], [.pair]])
        #expect(state == before)
    }

    @Test func `while a take ends pairing is opened, and nothing else changes`() {
        for events in [recording + [.press(.stop, at: now)], playing + [.press(.record, at: now)]] {
            var state = state(events)
            let before = state
            #expect(state.handle(.pair(pressed: pressed), facts) == [.pair])
            #expect(state == before)
        }
    }

    @Test func `while a take waits for its card pairing is opened, and the press that waits too plays nothing`() {
        var blocked = facts
        blocked.cardObstacle = Refusal(.io, "capture: auto: is being opened")
        var arming = state([.press(.record, at: now), .press(.play, at: pressed)], blocked)
        #expect(arming.handle(.pair(pressed: pressed), blocked) == [.pair])
        let refusal = Refusal(.io, "record: capture: auto: is being opened")
        #expect(arming.handle(.cardAnswered, blocked) == [.refuse(refusal)])
        #expect(arming.phase == .idle)

        // An earlier press that was released is not taken back.
        arming = state([.press(.record, at: now), .press(.play, at: pressed)], blocked)
        #expect(arming.handle(.pair(pressed: pressed + .seconds(4)), blocked) == [.pair])
        #expect(arming.handle(.cardAnswered, blocked) == [.refuse(refusal), .play(take)])

        for end in [TransportEvent.shutdown(at: now), .finish(by: Asker(1))] {
            arming = state([.press(.record, at: now), end], blocked)
            let before = arming
            #expect(arming.handle(.pair(pressed: pressed), blocked) == [])
            #expect(arming == before)
        }
    }

    @Test func `while the kit shuts down, or the process is to end, pairing is not opened`() {
        let withTail: [TransportEvent] = [
            .press(.record, at: now), .takeBegan(take), .press(.stop, at: now), .takeFinished(take, hasTail: true),
        ]
        for end in [TransportEvent.shutdown(at: now), .finish(by: Asker(1))] {
            for (name, events) in [
                ("resting", []), ("recording", recording), ("playing", playing), ("finishing", withTail),
            ] {
                var state = state(events + [end])
                let before = state
                #expect(state.handle(.pair(pressed: pressed), facts) == [], "\(name)")
                #expect(state == before, "\(name)")
            }
        }
    }

    @Test func `a locked panel refuses it, in each phase`() {
        let refusal = Refusal(.busy, "pair: the panel is locked: hold back and stop together to unlock it")
        for events in [[], recording, playing, paused, [.shutdown(at: now)]] {
            var state = state(events + [.lock(at: now)])
            let before = state
            #expect(state.handle(.pair(pressed: pressed), facts) == [.refuse(refusal)])
            #expect(state == before)
        }
    }
}
