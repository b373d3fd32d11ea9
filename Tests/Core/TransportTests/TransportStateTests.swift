import SeededRandom
import Takes
import Testing
import Transport

/// Tests the rows of the table individually, then random sequences.
@Suite struct TransportStateTests {
    private let now = Instant(nanoseconds: 50_000_000_000)
    private let take = TransportModel.name(7)
    private var facts: TransportFacts { TransportFacts(now: now, selected: take) }

    private func state(_ configure: (inout TransportRules) -> Void = { _ in }) -> TransportState {
        var rules = TransportRules()
        configure(&rules)
        return TransportState(rules: rules)
    }

    private func recording(_ configure: (inout TransportRules) -> Void = { _ in }) -> TransportState {
        var state = state(configure)
        _ = state.handle(.press(.record, at: now), facts)
        _ = state.handle(.takeBegan(take), facts)
        return state
    }

    private func playing() -> TransportState {
        var state = state()
        _ = state.handle(.press(.play, at: now), facts)
        _ = state.handle(.playBegan, facts)
        return state
    }

    private func paused() -> TransportState {
        var state = playing()
        _ = state.handle(.press(.play, at: now), facts)
        return state
    }

    @Test func `stop that is held gives the stick back only if nothing went on when it was pressed`() {
        let later = now + .seconds(1)
        var idle = state()
        _ = idle.handle(.press(.stop, at: now), facts)
        #expect(idle.handle(.eject(pressed: now), facts) == [.eject])
        #expect(idle.handle(.eject(pressed: later), facts) == [])
        for start in [recording(), playing()] {
            var state = start
            _ = state.handle(.press(.stop, at: later), facts)
            #expect(state.handle(.eject(pressed: later), facts) == [])
            _ = state.handle(.takeFinished(take, hasTail: false), facts)
            _ = state.handle(.playEnded(failure: nil), facts)
            #expect(state.handle(.eject(pressed: later), facts) == [])
        }
    }

    /// The effect of each button in each state.
    @Test func `the table of buttons`() {
        var table: [String: [TransportEffect]] = [:]
        for (name, start) in [
            ("idle", state()), ("recording", recording()), ("playing", playing()), ("paused", paused()),
        ] {
            for button in Button.allCases {
                var state = start
                table["\(name) \(button)"] = state.handle(.press(button, at: now), facts)
            }
        }
        let refused = TransportEffect.refuse(Refusal(.busy, "play: refused while a take is recorded"))
        #expect(
            table == [
                "idle record": [.begin(at: now, by: .button)], "idle stop": [], "idle play": [.play(take)],
                "idle back": [.select(steps: -1)], "idle forward": [.select(steps: 1)],
                "recording record": [.mark(Mark(at: now))],
                "recording stop": [.end(at: now, because: .stop, keepsTail: false)], "recording play": [refused],
                "recording back": [], "recording forward": [],
                "playing record": [.stopPlaying], "playing stop": [.stopPlaying], "playing play": [.change(.pause)],
                "playing back": [.change(.skip(seconds: -5))], "playing forward": [.change(.skip(seconds: 5))],
                "paused record": [.stopPlaying], "paused stop": [.stopPlaying], "paused play": [.change(.resume)],
                "paused back": [.change(.skip(seconds: -5))], "paused forward": [.change(.skip(seconds: 5))],
            ])
    }

    @Test func `what is pressed while a take ends is done in its order, and play, back and forward are refused`() {
        var state = recording()
        _ = state.handle(.press(.stop, at: now), facts)
        var effects: [TransportEffect] = []
        for button in [Button.record, .play, .back, .forward, .stop, .record] {
            effects += state.handle(.press(button, at: now), facts)
        }
        #expect(
            effects == ["play", "back", "forward"].map { .refuse(Refusal(.busy, "\($0): refused while a take ends")) })
        #expect(
            state.handle(.takeFinished(take, hasTail: false), facts) == [
                .takeOver, .begin(at: now, by: .button), .end(at: now, because: .stop, keepsTail: false),
            ])
        #expect(state.handle(.takeFinished(take, hasTail: false), facts) == [.takeOver, .begin(at: now, by: .button)])
    }

    @Test func `a locked panel refuses every press and the power switch, and commands act`() {
        var state = recording()
        #expect(state.handle(.lock(at: facts.now), facts) == [.lockChanged(isLocked: true)])
        for button in Button.allCases {
            let effects = state.handle(.press(button, at: now), facts)
            guard case .refuse? = effects.first, effects.count == 1 else {
                Issue.record("\(button): \(effects)")
                continue
            }
        }
        guard case .refuse? = state.handle(.shutdown(at: facts.now), facts).first else {
            Issue.record("it switches off")
            return
        }
        #expect(
            state.handle(.stop(at: now, by: Asker(1)), facts) == [.end(at: now, because: .stop, keepsTail: false)])
        #expect(state.handle(.lock(at: facts.now), facts) == [.lockChanged(isLocked: false)])
    }

    @Test func `a take that keeps no more markers refuses them by one sentence, and goes on`() {
        var state = recording { _ in }
        let before = state
        var full = facts
        let refusal = Refusal(.busy, "mark: the take has 10000 markers")
        full.markObstacle = refusal
        #expect(state.handle(.press(.record, at: now), full) == [.refuse(refusal)])
        #expect(
            state.handle(.mark(Mark(at: now, note: "x"), by: Asker(1)), full)
                == [.refuse(refusal), .reply(Asker(1), .refused(refusal))])
        #expect(state == before)
        #expect(state.handle(.press(.record, at: now), facts) == [.mark(Mark(at: now))])
    }

    @Test func `record soon after stop goes on with the same take, later it begins another`() {
        for (delay, isSame) in [(Duration.seconds(59), true), (.seconds(60), false)] {
            var state = recording { $0.rejoin = .seconds(60) }
            #expect(state.handle(.press(.stop, at: now), facts) == [.end(at: now, because: .stop, keepsTail: true)])
            #expect(state.handle(.takeFinished(take, hasTail: true), facts) == [.takeOver])
            let later = now + delay
            let effects = state.handle(.press(.record, at: later), TransportFacts(now: later))
            #expect(
                effects == (isSame ? [.rejoin(at: later, by: .button)] : [.dropTail, .begin(at: later, by: .button)]))
        }
    }

    @Test func `the schedule begins a take of its own, at once, and who goes on with it after a stop is its owner`() {
        var state = recording { $0.rejoin = .seconds(60) }
        _ = state.handle(.press(.stop, at: now), facts)
        _ = state.handle(.takeFinished(take, hasTail: true), facts)
        var other = state
        let later = now + .seconds(1)
        let soon = TransportFacts(now: later)
        #expect(
            state.handle(.record(at: later, by: Asker(5), startedBy: .schedule), soon)
                == [.dropTail, .begin(at: later, by: .schedule)])
        #expect(other.handle(.press(.record, at: later), soon) == [.rejoin(at: later, by: .button)])
    }

    @Test func `the sound behind a take is dropped in time, by a second stop, by playing and before the kit rests`() {
        var start = recording { $0.rejoin = .seconds(60) }
        _ = start.handle(.press(.stop, at: now), facts)
        _ = start.handle(.takeFinished(take, hasTail: true), facts)
        var state = start
        #expect(state.handle(.tick, TransportFacts(now: now + .seconds(60))) == [.dropTail])
        state = start
        #expect(state.handle(.press(.stop, at: now), facts) == [.dropTail])
        state = start
        #expect(state.handle(.press(.play, at: now), facts) == [.dropTail, .play(take)])
        state = start
        #expect(state.handle(.finish(by: Asker(3)), facts) == [.dropTail])
        #expect(state.handle(.press(.record, at: now), facts) == [.refuse(Refusal(.busy, "the kit is shutting down"))])
        #expect(state.handle(.tailEnded, facts) == [.closeCard, .reply(Asker(3), .done)])
    }

    @Test func `where the writer has no tail any more, a new take begins at the press`() {
        var stopped = recording { $0.rejoin = .seconds(60) }
        _ = stopped.handle(.press(.stop, at: now), facts)
        _ = stopped.handle(.takeFinished(take, hasTail: true), facts)
        var state = stopped
        let pressed = now + .seconds(2)
        #expect(state.handle(.record(at: pressed, by: Asker(4)), facts) == [.rejoin(at: pressed, by: .command)])
        #expect(state.handle(.tailEnded, facts) == [.begin(at: pressed, by: .command)])
        #expect(state.recordedTake == nil)
        #expect(state.handle(.takeBegan(TransportModel.name(8)), facts) == [.reply(Asker(4), .done)])
        #expect(state.recordedTake == TransportModel.name(8))

        state = stopped
        _ = state.handle(.record(at: pressed, by: Asker(4)), facts)
        _ = state.handle(.press(.stop, at: pressed), facts)
        let refusal = Refusal(.io, "record: the last take could not go on: record again")
        #expect(state.handle(.tailEnded, facts) == [.refuse(refusal), .reply(Asker(4), .refused(refusal)), .takeOver])
        #expect(state.phase == .idle)

        // A card that was disconnected would leave an unmarked gap.
        state = stopped
        #expect(state.handle(.cardLost, facts) == [.dropTail])
        #expect(state.handle(.press(.record, at: pressed), facts) == [.begin(at: pressed, by: .button)])
    }

    @Test func `the limits of a take that went on count from its beginning`() {
        func stopped(_ change: (inout TransportRules) -> Void) -> TransportState {
            var state = recording { rules in
                rules.rejoin = .seconds(60)
                change(&rules)
            }
            _ = state.handle(.press(.stop, at: now + .seconds(100)), TransportFacts(now: now + .seconds(100)))
            _ = state.handle(.takeFinished(take, hasTail: true), TransportFacts(now: now + .seconds(100)))
            return state
        }
        let pressed = now + .seconds(130)
        var state = stopped { $0.longest = .seconds(140) }
        #expect(
            state.handle(.press(.record, at: pressed), TransportFacts(now: pressed)) == [
                .rejoin(at: pressed, by: .button)
            ])
        _ = state.handle(.takeRejoined(take), TransportFacts(now: pressed))
        let end = now + .seconds(140)
        #expect(state.nextDeadline == end)
        #expect(
            state.handle(.tick, TransportFacts(now: end)) == [.end(at: end, because: .limit, keepsTail: false)])

        state = stopped { $0.newTakeEvery = .seconds(140) }
        _ = state.handle(.press(.record, at: pressed), TransportFacts(now: pressed))
        _ = state.handle(.takeRejoined(take), TransportFacts(now: pressed))
        #expect(state.handle(.tick, TransportFacts(now: end + TransportRules.followDelay)) == [.follow(at: end)])

        // The take would exceed the limit.
        for limit in [\TransportRules.longest, \.newTakeEvery] {
            state = stopped { $0[keyPath: limit] = .seconds(130) }
            #expect(
                state.handle(.press(.record, at: pressed), TransportFacts(now: pressed))
                    == [.dropTail, .begin(at: pressed, by: .button)])
        }
    }

    @Test func `a take that cannot begin is a refusal, one that fails later is not`() {
        let failure = Refusal(.io, "record: the disk is full")
        var state = state()
        _ = state.handle(.press(.record, at: now), facts)
        #expect(state.handle(.takeFailed(failure), facts) == [.refuse(failure), .takeOver])
        state = recording()
        #expect(state.handle(.takeFailed(failure), facts) == [.takeOver])
    }

    @Test func `a take ends at its limit, and is followed by the next at each cut`() {
        var state = recording { $0.longest = .seconds(600) }
        #expect(state.handle(.tick, TransportFacts(now: now + .seconds(599))) == [])
        let end = now + .seconds(600)
        #expect(
            state.handle(.tick, TransportFacts(now: end + .seconds(1))) == [
                .end(at: end, because: .limit, keepsTail: false)
            ])
        state = recording { $0.newTakeEvery = .seconds(3600) }
        let cut = now + .seconds(3600)
        let due = cut + TransportRules.followDelay
        #expect(state.nextDeadline == due)
        #expect(state.handle(.tick, TransportFacts(now: cut)) == [])
        // A stop from before the cut, received after it, ends the take. No other take begins.
        var stopped = state
        let pressed = cut - .milliseconds(5)
        #expect(
            stopped.handle(.press(.stop, at: pressed), TransportFacts(now: cut + .milliseconds(10)))
                == [.end(at: pressed, because: .stop, keepsTail: false)])
        #expect(state.handle(.tick, TransportFacts(now: due)) == [.follow(at: cut)])
        #expect(state.nextDeadline == due + .seconds(3600))
        _ = state.handle(.takeFollowed(by: TransportModel.name(8)), facts)
        #expect(state.recordedTake == TransportModel.name(8))
    }

    @Test(arguments: [TakeInitiator.button, .command, .schedule])
    func `sound that goes on elsewhere keeps what asked for it, also while its card is opened`(initiator: TakeInitiator)
    {
        var state = state()
        var blocked = facts
        blocked.storageObstacle = Refusal(.io, "storage: it is still being read")
        #expect(state.handle(.record(at: now, by: Asker(1), startedBy: initiator), blocked) == [.checkStorage])
        #expect(state.handle(.storageAnswered, facts) == [.begin(at: now, by: initiator)])
    }

    @Test func `a take that was asked for waits for the card, and is refused when that does not answer`() {
        var blocked = facts
        blocked.cardObstacle = Refusal(.io, "capture: auto: is being opened")
        var state = state()
        #expect(state.handle(.record(at: now, by: Asker(1)), blocked) == [.openCard])
        #expect(state.handle(.press(.stop, at: now + .seconds(1)), blocked) == [])
        var ready = state
        #expect(
            ready.handle(.cardAnswered, facts) == [
                .begin(at: now, by: .command), .end(at: now + .seconds(1), because: .stop, keepsTail: false),
            ])
        blocked.now = now + TransportRules.armingPatience
        let refusal = Refusal(.io, "record: capture: auto: is being opened")
        #expect(state.handle(.tick, blocked) == [.refuse(refusal), .reply(Asker(1), .refused(refusal))])
    }

    @Test func `a take waits ten minutes for its card`() {
        var state = recording()
        #expect(state.handle(.cardLost, facts) == [.suspend])
        #expect(state.handle(.cardReturned, facts) == [.resumeTake(after: .zero)])
        _ = state.handle(.cardLost, facts)
        // Repeatedly opening and losing the card without a frame does not extend the wait.
        _ = state.handle(.cardLost, TransportFacts(now: now + .seconds(300)))
        #expect(
            state.handle(.tick, TransportFacts(now: now + .seconds(600))) == [
                .end(at: nil, because: .cardLost, keepsTail: false)
            ])
    }

    @Test func `a card that is back with other channels ends the take, and what is asked for then begins the next one`()
    {
        var state = recording()
        #expect(state.handle(changed, facts) == [], "its card is there")
        _ = state.handle(.cardLost, facts)
        #expect(state.handle(changed, facts) == [.end(at: nil, because: .cardLost, keepsTail: false)])
        #expect(state.handle(changed, facts) == [])
        #expect(state.isEndAwaited && !state.endsAlone)
        #expect(state.handle(.press(.record, at: now), facts) == [])
        #expect(
            state.handle(.takeFinished(take, hasTail: false), facts) == [
                .takeOver, .beginOther(at: back, by: .schedule), .mark(Mark(at: now)),
            ])
        #expect(state.recordedTake == nil && state.deckState(isBlocked: true) == .recording)
        for start in [self.state(), playing()] {
            var state = start
            #expect(state.handle(changed, facts) == [])
            #expect(state == start)
        }
    }

    private var back: Instant { now - .seconds(3) }
    private var changed: TransportEvent { .cardChanged(at: back, startedBy: .schedule) }

    /// A take that is ending because its card returned with other channels.
    private func endingForAnother() -> TransportState {
        var state = recording()
        _ = state.handle(.cardLost, facts)
        _ = state.handle(changed, facts)
        return state
    }

    @Test func `neither a card that is gone nor a failure keeps the other take from beginning`() {
        let refusal = Refusal(.io, "record: the disk is full")
        for event in [TransportEvent.takeFinished(take, hasTail: false), .takeFailed(refusal)] {
            var state = endingForAnother()
            #expect(state.handle(.cardLost, facts) == [.suspend])
            let blocked = TransportFacts(now: now, cardObstacle: refusal, storageObstacle: refusal)
            #expect(state.handle(event, blocked) == [.takeOver, .beginOther(at: back, by: .schedule)])
            #expect(state.handle(.cardLost, blocked) == [.suspend])
            #expect(state.nextDeadline == now + TransportRules.cardPatience)
        }
    }

    @Test func `whatever ends the sound while the first take ends is for the other one`() {
        let finished = TransportEvent.takeFinished(take, hasTail: false)
        func effects(_ ending: TakeEnding) -> [TransportEffect] {
            [.takeOver, .beginOther(at: back, by: .schedule), .end(at: now, because: ending, keepsTail: false)]
        }
        for (event, ending, last) in [
            (.press(.stop, at: now), .stop, []),
            (.stop(at: now, by: Asker(1)), .stop, [.reply(Asker(1), .take(TransportModel.name(8)))]),
            (.finish(by: Asker(1)), .shutdown, [.closeCard, .reply(Asker(1), .take(TransportModel.name(8)))]),
            (.shutdown(at: now), .shutdown, [.closeCard, .powerOff]),
        ] as [(TransportEvent, TakeEnding, [TransportEffect])] {
            var state = endingForAnother()
            #expect(state.handle(event, facts) == [])
            if ending == .shutdown {
                let refusal = Refusal(.busy, "the kit is shutting down")
                #expect(state.handle(.record(at: now, by: Asker(2)), facts) == [.reply(Asker(2), .refused(refusal))])
                #expect(state.handle(.pair(pressed: now), facts) == [])
            }
            #expect(state.handle(finished, facts) == effects(ending))
            #expect(
                state.handle(.takeFinished(TransportModel.name(8), hasTail: false), facts) == [.takeOver] + last)
        }
    }

    @Test func `where the recording card is in the way it is closed for the player, and what was pressed is not lost`()
    {
        var state = state()
        _ = state.handle(.play(nil, by: Asker(1)), facts)
        #expect(state.handle(.press(.forward, at: now), facts) == [.change(.skip(seconds: 5))])
        #expect(state.handle(.playBlocked(Refusal(.io, "play: busy")), facts) == [.closeForPlayer])
        #expect(state.handle(.cardClosed, facts) == [.play(take), .change(.skip(seconds: 5))])
        _ = state.handle(.playBegan, facts)
        #expect(state.handle(.playEnded(failure: nil), facts) == [.reopenCard])
    }

    @Test func `what is stopped while the recording card is being closed for the player is not played`() {
        for (event, following) in [
            (TransportEvent.press(.stop, at: now), [TransportEffect.reopenCard]), (.pair(pressed: now), [.reopenCard]),
            (.press(.record, at: now), [.reopenCard, .begin(at: now, by: .button)]),
            (.shutdown(at: now), [.closeCard, .powerOff]),
        ] {
            var state = state()
            _ = state.handle(.press(.play, at: now), facts)
            #expect(state.handle(.playBlocked(Refusal(.io, "play: busy")), facts) == [.closeForPlayer])
            #expect(state.handle(event, facts).first == .stopPlaying)
            #expect(state.handle(.cardClosed, facts) == following)
        }
    }

    @Test func `power off waits for the take, and refuses what waited`() {
        var state = recording()
        _ = state.handle(.press(.stop, at: now), facts)
        _ = state.handle(.record(at: now, by: Asker(1)), facts)
        let refusal = Refusal(.busy, "the kit is shutting down")
        #expect(state.handle(.shutdown(at: facts.now), facts) == [.reply(Asker(1), .refused(refusal))])
        #expect(state.handle(.takeFinished(take, hasTail: false), facts) == [.takeOver, .closeCard, .powerOff])
        // If the power stays on, the kit is ready again after a while.
        #expect(state.cardNeed == .closed)
        _ = state.handle(.tick, TransportFacts(now: now + TransportRules.rest))
        #expect(state.cardNeed == .standby)
    }

    @Test func `a take that ends when the process is to end is the last`() {
        var state = recording { $0.rejoin = .seconds(60) }
        _ = state.handle(.press(.stop, at: now), facts)
        #expect(state.handle(.finish(by: Asker(1)), facts) == [])
        #expect(state.handle(.takeFinished(take, hasTail: true), facts) == [.takeOver, .dropTail])
        #expect(state.handle(.tailEnded, facts) == [.closeCard, .reply(Asker(1), .done)])
        #expect(state.cardNeed == .closed)
    }

    /// Twenty thousand random events in each run, with workers that answer late and fail.
    @Test(arguments: 1...8) func `whatever happens, writer, player and transport agree and everybody is answered`(
        seed: Int
    ) {
        var chance = SeededRandom(seed: UInt64(seed))
        var rules = TransportRules()
        rules.rejoin = seed % 2 == 0 ? .seconds(60) : .zero
        rules.longest = seed % 3 == 0 ? .seconds(120) : .zero
        rules.newTakeEvery = seed % 4 == 0 ? .seconds(110) : .zero
        rules.isListening = seed % 5 != 0
        var model = TransportModel(rules: rules)
        for step in 1...20_000 {
            model.happen(&chance)
            guard model.problems.isEmpty else {
                Issue.record("seed \(seed), step \(step): \(model.problems)")
                return
            }
        }
        model.cardObstacle = nil
        model.storageObstacle = nil
        model.handle(.finish(by: model.asker()))
        for _ in 0..<200 where !model.pending.isEmpty { model.answerNext() }
        #expect(model.open == [])
        #expect(model.writer == .free && model.player == .free)
        #expect(model.takes > 50 && model.others > 3)
        #expect(model.pairings > 50 && model.silenced > 3)
        #expect(rules.rejoin == .zero || (model.rejoins > 10 && model.lateRejoins > 3))
    }
}

extension TransportModel {
    mutating func happen(_ chance: inout SeededRandom) {
        now = now + .milliseconds(Int.random(in: 0...4000, using: &chance))
        switch Int.random(in: 0..<100, using: &chance) {
        case 0..<35: handle(.press(Button.allCases.randomElement(using: &chance)!, at: now))
        case 35..<61: answerNext()
        case 61..<65: holdPlay()
        case 65..<75: handle(.tick)
        case 75..<77: handle(.lock(at: now))
        case 77..<79: handle(.record(at: now, by: asker()))
        case 79..<82: handle(.stop(at: now, by: asker()))
        case 82..<84: handle(.play(nil, by: asker()))
        case 84..<86:
            handle(
                .change([.pause, .skip(seconds: 3), .volume(0.5), .resume].randomElement(using: &chance)!, by: asker()))
        case 86..<88: handle(.mark(Mark(at: now, note: "x"), by: asker()))
        case 88..<90: cardObstacle = cardObstacle == nil ? Refusal(.io, "no card") : nil
        case 90..<91: storageObstacle = storageObstacle == nil ? Refusal(.io, "no storage") : nil
        case 91..<93:
            if writer != .free { handle(.cardLost) }
            if Bool.random(using: &chance) { handle(.cardChanged(at: now, startedBy: .command)) }
        case 93..<94: handle(.cardReturned)
        case 94..<95: endTail()
        case 95..<96: failTake()
        case 96..<97: handle(.finish(by: asker()))
        case 97..<98: handle(.shutdown(at: now))
        case 98..<99: endPlaying(Bool.random(using: &chance) ? nil : Refusal(.io, "play: it failed"))
        default: now = now + .seconds(70)
        }
    }
}
