import Takes

// A take is being recorded or ended.
extension TransportState {
    mutating func handle(
        _ event: TransportEvent, _ recording: Recording, _ facts: TransportFacts
    ) -> [TransportEffect] {
        if let effects = reported(event, recording, facts) { return effects }
        if case .ending(let finish) = recording.stage {
            var recording = recording
            let (finish, effects) = wait(event, finish)
            recording.stage = .ending(finish)
            phase = .recording(recording)
            return effects
        }
        switch event {
        case .press(.record, let instant):
            if let refusal = facts.markObstacle { return [.refuse(refusal)] }
            return [.mark(Mark(at: instant))]
        case .mark(let mark, let asker):
            if let refusal = facts.markObstacle { return [.refuse(refusal), .reply(asker, .refused(refusal))] }
            return [.mark(mark), .reply(asker, .marked(at: mark.place))]
        case .press(.stop, let instant): return end(recording, at: instant, because: .stop, Finish())
        case .stop(let instant, let asker):
            return end(recording, at: instant, because: .stop, Finish(askers: [asker]))
        case .press(.play, _): return [.refuse(Refusal(.busy, "play: refused while a take is recorded"))]
        case .press(.back, _), .press(.forward, _): return []
        case .record(_, let asker, _, _): return [.reply(asker, .refused(recording.isBeingRecorded("record")))]
        case .play(_, let asker):
            let refusal = recording.isBeingRecorded("play")
            return [.refuse(refusal), .reply(asker, .refused(refusal))]
        case .change(let change, let asker):
            switch change {
            case .volume, .pitch, .speed: return [.change(change), .reply(asker, .done)]
            case .pause, .resume, .skip: return [.reply(asker, .refused(change.nothingPlays))]
            }
        case .shutdown: return end(recording, at: facts.now, because: .shutdown, Finish(then: .powerOff))
        case .finish(let asker):
            return end(recording, at: facts.now, because: .shutdown, Finish(askers: [asker], then: .rest))
        case .tick: return tick(recording, facts)
        default: return []
        }
    }

    /// Returns the effects of a report of the workers about the take, or nil if the event is not such a report.
    private mutating func reported(
        _ event: TransportEvent, _ recording: Recording, _ facts: TransportFacts
    ) -> [TransportEffect]? {
        var recording = recording
        switch event {
        case .takeBegan(let name), .takeRejoined(let name):
            if case .rejoining = tail { tail = .none }
            let replies = recording.whenBegun.map { TransportEffect.reply($0, .done) }
            recording.name = name
            recording.whenBegun = []
            phase = .recording(recording)
            return replies
        case .takeFollowed(let name):
            recording.name = name
            phase = .recording(recording)
            return []
        case .takeFinished(let name, let hasTail):
            var finish = recording.stage.finish
            finish.askers += recording.whenBegun
            if hasTail {
                tail = .running(behind: name, since: recording.since, until: facts.now + rules.rejoin)
            }
            return [.takeOver] + conclude(finish, take: name, facts)
        case .takeFailed(let refusal):
            if case .rejoining = tail { tail = .none }
            let finish = recording.stage.finish
            let refused = (recording.whenBegun + finish.askers).map { TransportEffect.reply($0, .refused(refusal)) }
            let rest = Finish(waiting: finish.waiting, then: finish.then)
            // If the take never began, the button had no effect, so the lamps show it.
            let shown = recording.name == nil ? [TransportEffect.refuse(refusal)] : []
            return shown + refused + [.takeOver] + conclude(rest, take: nil, facts)
        case .cardLost:
            if case .running = recording.stage, recording.card == .delivers {
                recording.card = .away(since: facts.now)
                phase = .recording(recording)
            }
            return [.suspend]
        case .cardReturned:
            guard case .away(let since) = recording.card, recording.stage == .running else { return [] }
            recording.card = .delivers
            phase = .recording(recording)
            return [.resumeTake(after: facts.now - since)]
        case .cardChanged(let instant, let initiator):
            guard case .away = recording.card, recording.stage == .running else { return [] }
            let another = Request(at: instant, by: initiator, card: .same)
            return end(recording, at: nil, because: .cardLost, Finish(then: .another(another)))
        default: return nil
        }
    }

    /// The sound after the last take ended before the take could continue. A new take begins at the same instant.
    mutating func beginInstead(_ request: Request, _ facts: TransportFacts) -> [TransportEffect] {
        guard case .recording(var recording) = phase else { return [] }
        recording.name = nil
        recording.since = request.at
        phase = .recording(recording)
        guard recording.stage == .running else {
            return handle(.takeFailed(Refusal(.takeNotContinued)), facts)
        }
        return [.begin(at: request.at, by: request.by, from: request.from)]
    }

    /// Handles an event during an ending: it waits, or is refused.
    func wait(_ event: TransportEvent, _ before: Finish) -> (Finish, [TransportEffect]) {
        var finish = before
        if case .another = finish.then, event.endsAll {
            // The event ends the next take, which will have begun by then.
            finish.waiting.append(event)
            return (finish, [])
        }
        switch event {
        case .finish(let asker):
            finish.askers.append(asker)
            if finish.then == .goOn { finish.then = .rest }
        case .shutdown: finish.then = .powerOff
        case .press, .record, .stop, .mark, .play, .change:
            guard !finish.endsAll else { return (finish, event.refused(Self.shuttingDown)) }
            switch event {
            // While a take ends there is nothing to play, and the selection is about to change.
            case .press(.play, _), .press(.back, _), .press(.forward, _):
                return (finish, [.refuse(Refusal(.busy, "\(event.buttonName): refused while a take ends"))])
            case .stop(_, let asker) where finish.then == .goOn && finish.waiting.isEmpty: finish.askers.append(asker)
            case .mark(_, let asker) where finish.then == .goOn && finish.waiting.isEmpty:
                return (finish, [.reply(asker, .refused(Refusal(.nothingRecorded)))])
            default: finish.waiting.append(event)
            }
            return (finish, [])
        default: return (finish, [])
        }
        let refused = finish.waiting.flatMap { $0.refused(Self.shuttingDown) }
        finish.waiting = []
        return (finish, refused)
    }

    private mutating func end(
        _ recording: Recording, at instant: Instant?, because ending: TakeEnding, _ finish: Finish
    ) -> [TransportEffect] {
        var recording = recording
        recording.stage = .ending(finish)
        phase = .recording(recording)
        let keepsTail = ending == .stop && rules.rejoin > .zero
        return [.end(at: instant, because: ending, keepsTail: keepsTail)]
    }

    private mutating func tick(_ recording: Recording, _ facts: TransportFacts) -> [TransportEffect] {
        if case .away(let since) = recording.card, facts.now - since >= TransportRules.cardPatience {
            return end(recording, at: nil, because: .cardLost, Finish())
        }
        if rules.longest > .zero, facts.now - recording.since >= rules.longest {
            return end(recording, at: recording.since + rules.longest, because: .limit, Finish())
        }
        if rules.newTakeEvery > .zero, facts.now - recording.since >= rules.newTakeEvery + TransportRules.followDelay {
            var recording = recording
            recording.since = recording.since + rules.newTakeEvery
            phase = .recording(recording)
            // A take that waits for its card is not cut now, but the next time.
            return recording.card == .delivers ? [.follow(at: recording.since)] : []
        }
        return []
    }
}

extension TransportState.Recording {
    /// The reason why a command must wait until the take has ended.
    public func isBeingRecorded(_ command: String) -> Refusal {
        Refusal(.takeRecorded(command: command, take: name))
    }
}

extension TransportState.Stage {
    /// The plan for the time after the end.
    var finish: TransportState.Finish {
        switch self {
        case .running: TransportState.Finish()
        case .ending(let finish): finish
        }
    }
}

extension TransportEvent {
    fileprivate var buttonName: String {
        if case .press(let button, _) = self { button.rawValue } else { "" }
    }
}
