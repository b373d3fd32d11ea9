import Takes

// The transport is idle, or a take waits for card and storage to answer.
extension TransportState {
    mutating func handleIdle(_ event: TransportEvent, _ facts: TransportFacts) -> [TransportEffect] {
        switch event {
        case .press(.record, let instant): return start(Request(at: instant, by: .button), facts)
        case .record(let instant, let asker, let initiator, let from):
            return start(Request(at: instant, by: initiator, asker: asker, from: from), facts)
        case .goOn(let instant, let initiator): return start(Request(at: instant, by: initiator, card: .same), facts)
        case .press(.stop, let instant):
            idleStop = instant
            return dropTail()
        // A press of stop that has just ended a take does not eject.
        case .eject(let pressed): return pressed == idleStop ? [.eject] : []
        case .stop(_, let asker): return dropTail() + [.reply(asker, .done)]
        case .press(.play, let instant): return play(nil, by: nil, pressed: instant, facts)
        case .play(let take, let asker): return play(take, by: asker, facts)
        case .press(.back, _): return [.select(steps: -1)]
        case .press(.forward, _): return [.select(steps: 1)]
        case .mark(_, let asker):
            return [.reply(asker, .refused(Refusal(.nothingRecorded)))]
        case .change(let change, let asker):
            switch change {
            // These apply to the next playback.
            case .volume, .pitch, .speed: return [.change(change), .reply(asker, .done)]
            case .pause, .resume, .skip: return [.reply(asker, .refused(change.nothingPlays))]
            }
        case .shutdown: return conclude(Finish(then: .powerOff), take: nil, facts)
        case .finish(let asker): return conclude(Finish(askers: [asker], then: .rest), take: nil, facts)
        case .tick: return tickIdle(facts)
        // A take cannot continue with a card that was disconnected.
        case .cardLost: return dropTail()
        case .lock, .pair, .openAccess, .adoptStick, .cardAnswered, .storageAnswered, .cardReturned, .cardChanged,
            .cardClosed, .takeBegan, .takeFinished, .takeFollowed, .takeFailed, .takeRejoined, .tailEnded, .playBegan,
            .playChanged, .playEnded, .playBlocked:
            return []
        }
    }

    private mutating func tickIdle(_ facts: TransportFacts) -> [TransportEffect] {
        if case .resting(let until) = phase, facts.now >= until { phase = .idle }
        if case .running(_, _, let until) = tail, facts.now >= until { return dropTail() }
        return []
    }

    /// The sound after the last take is no longer needed.
    mutating func dropTail() -> [TransportEffect] {
        guard case .running = tail else { return [] }
        tail = .dropping
        return [.dropTail]
    }

    /// Begins a take, or continues the last one. First asks the card and the storage if they were not ready.
    private mutating func start(_ request: Request, _ facts: TransportFacts) -> [TransportEffect] {
        // The schedule must not continue a take that somebody stopped.
        if case .running(let take, let since, let until) = tail, request.at < until, request.by != .schedule,
            request.card == .anyOpen,
            !rules.isFull(request.at - since)
        {
            tail = .rejoining(request)
            var recording = Recording(name: take, since: since)
            recording.whenBegun = request.asker.map { [$0] } ?? []
            phase = .recording(recording)
            return [.rejoin(at: request.at, by: request.by)]
        }
        var awaited: Set<Arming.Answer> = []
        if facts.cardObstacle != nil, request.card == .anyOpen { awaited.insert(.card) }
        if facts.storageObstacle != nil { awaited.insert(.storage) }
        let dropped = dropTail()
        if awaited.isEmpty { return dropped + begin(request) }
        let patience = request.card == .same ? TransportRules.folderPatience : TransportRules.armingPatience
        phase = .arming(Arming(request: request, awaited: awaited, deadline: facts.now + patience))
        return dropped + (awaited.contains(.card) ? [.openCard] : [])
            + (awaited.contains(.storage) ? [.checkStorage] : [])
    }

    mutating func begin(_ request: Request) -> [TransportEffect] {
        phase = .recording(Recording(since: request.at, whenBegun: request.asker.map { [$0] } ?? []))
        return switch request.card {
        case .anyOpen: [.begin(at: request.at, by: request.by, from: request.from)]
        case .same: [.beginOther(at: request.at, by: request.by)]
        }
    }

    mutating func handle(
        _ event: TransportEvent, _ arming: Arming, _ facts: TransportFacts
    ) -> [TransportEffect] {
        var arming = arming
        switch event {
        case .cardAnswered: arming.awaited.remove(.card)
        case .storageAnswered: arming.awaited.remove(.storage)
        case .tick: if facts.now >= arming.deadline { arming.awaited = [] }
        case .cardLost, .cardReturned, .cardChanged, .cardClosed, .takeBegan, .takeFinished, .takeFollowed,
            .takeFailed, .takeRejoined, .playBegan, .playChanged, .playEnded, .playBlocked, .lock, .tailEnded, .eject,
            .pair,
            .openAccess, .adoptStick, .goOn:
            break
        case .press, .shutdown, .record, .stop, .mark, .play, .change, .finish: arming.waiting.append(event)
        }
        phase = .arming(arming)
        guard arming.awaited.isEmpty else { return [] }
        guard arming.request.card == .anyOpen,
            let refusal = (facts.cardObstacle ?? facts.storageObstacle)?.about("record")
        else {
            return begin(arming.request) + handle(arming.waiting, facts)
        }
        phase = .idle
        let reply = arming.request.asker.map { [TransportEffect.reply($0, .refused(refusal))] } ?? []
        return [.refuse(refusal)] + reply + handle(arming.waiting, facts)
    }
}

extension PlayChange {
    /// The refusal of this change while nothing is played.
    var nothingPlays: Refusal { Refusal(.nothingPlayed(command: command)) }
}

extension Refusal {
    /// Adds the command to the message: `record: storage: …`.
    public func about(_ command: String) -> Refusal {
        Refusal(code, message.hasPrefix("\(command): ") ? message : "\(command): \(message)", reason)
    }
}
