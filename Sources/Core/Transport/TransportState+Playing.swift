import Takes

// A take is playing, paused, or being stopped.
extension TransportState {
    /// Plays a take, or the selected take if nil.
    /// - Parameter pressed: when play was pressed, or nil for a command.
    mutating func play(
        _ take: TakeName?, by asker: Asker?, pressed: Instant? = nil, _ facts: TransportFacts
    ) -> [TransportEffect] {
        guard facts.playObstacle == nil, let take = take ?? facts.selected else {
            let refusal = facts.playObstacle?.about("play") ?? facts.noTake
            return [.refuse(refusal)] + (asker.map { [.reply($0, .refused(refusal))] } ?? [])
        }
        let dropped = dropTail()
        let sounding = pressed.map { Playing.Sounding.begun(by: $0) } ?? .asBefore
        phase = .playing(Playing(name: take, whenBegun: asker.map { [$0] } ?? [], sounding: sounding))
        return dropped + [.play(take)]
    }

    mutating func handle(_ event: TransportEvent, _ playing: Playing, _ facts: TransportFacts) -> [TransportEffect] {
        if let effects = reported(event, playing, facts) { return effects }
        var playing = playing
        if case .ending(let finish) = playing.stage {
            let (finish, effects) = wait(event, finish)
            playing.stage = .ending(finish)
            phase = .playing(playing)
            return effects
        }
        switch event {
        case .press(.record, _), .record: return stop(playing, Finish(waiting: [event]))
        case .press(.stop, _): return stop(playing, Finish())
        case .stop(_, let asker): return stop(playing, Finish(askers: [asker]))
        case .press(.play, let instant):
            let isPaused = playing.motion == .paused
            playing.sounding = isPaused ? .resumed(by: instant) : .asBefore
            return change(playing, isPaused ? .resume : .pause, by: nil)
        case .press(.back, _): return change(playing, .skip(seconds: -rules.skip.inSeconds), by: nil)
        case .press(.forward, _): return change(playing, .skip(seconds: rules.skip.inSeconds), by: nil)
        case .change(.pause, let asker) where playing.motion == .paused: return [.reply(asker, .done)]
        case .change(let change, let asker): return self.change(playing, change, by: asker)
        case .play(_?, _): return stop(playing, Finish(waiting: [event]))
        case .play(nil, let asker):
            if playing.motion == .paused { return change(playing, .resume, by: asker) }
            return [.reply(asker, .done)]
        case .mark(_, let asker):
            return [.reply(asker, .refused(Refusal(.nothingRecorded)))]
        case .shutdown: return stop(playing, Finish(then: .powerOff))
        case .finish(let asker): return stop(playing, Finish(askers: [asker], then: .rest))
        default: return []
        }
    }

    /// Handles a report of the player or the card. Returns nil for any other event.
    private mutating func reported(
        _ event: TransportEvent, _ playing: Playing, _ facts: TransportFacts
    ) -> [TransportEffect]? {
        var playing = playing
        switch event {
        case .playBegan:
            let replies = playing.whenBegun.map { TransportEffect.reply($0, .done) }
            playing.whenBegun = []
            playing.sound = .open
            phase = .playing(playing)
            return replies
        case .playChanged:
            guard !playing.whenChanged.isEmpty else { return [] }
            let asker = playing.whenChanged.removeFirst()
            phase = .playing(playing)
            return asker.map { [.reply($0, .done)] } ?? []
        case .playBlocked(let refusal):
            guard facts.isCardOpen, playing.card == .own, playing.stage == .running else {
                return over(playing, refusal, facts)
            }
            playing.card = .closedForPlayer
            phase = .playing(playing)
            return [.closeForPlayer]
        case .cardClosed:
            guard playing.card == .closedForPlayer, case .opening(let changes) = playing.sound else { return [] }
            // The player has nothing to stop yet.
            if case .ending = playing.stage { return over(playing, nil, facts) }
            // The earlier changes reached a player without a take.
            return [.play(playing.name)] + changes.map { .change($0) }
        case .playEnded(let failure): return over(playing, failure, facts)
        default: return nil
        }
    }

    private mutating func over(_ playing: Playing, _ failure: Refusal?, _ facts: TransportFacts) -> [TransportEffect] {
        let finish = playing.stage.finish
        let askers = playing.whenBegun + playing.whenChanged.compactMap(\.self)
        let reply: TransportReply = failure.map { .refused($0) } ?? .done
        let ended: TransportReply = failure.map { .refused($0) } ?? .take(playing.name)
        let rest = Finish(waiting: finish.waiting, then: finish.then)
        let reopened: [TransportEffect] = playing.card == .closedForPlayer && finish.then == .goOn ? [.reopenCard] : []
        return reopened + (failure.map { [.refuse($0)] } ?? []) + askers.map { .reply($0, reply) }
            + finish.askers.map { .reply($0, ended) }
            + conclude(rest, take: nil, facts)
    }

    mutating func change(_ playing: Playing, _ change: PlayChange, by asker: Asker?) -> [TransportEffect] {
        if case .skip(let seconds) = change, !seconds.isFinite {
            let refusal = Refusal(.badData, "skip: \(seconds) is not a number of seconds")
            return asker.map { [.reply($0, .refused(refusal))] } ?? []
        }
        var playing = playing
        switch change {
        case .pause: playing.motion = .paused
        case .resume: playing.motion = .running
        case .skip, .volume, .pitch, .speed: break
        }
        playing.whenChanged.append(asker)
        if case .opening(let changes) = playing.sound { playing.sound = .opening(changes: changes + [change]) }
        phase = .playing(playing)
        return [.change(change)]
    }

    mutating func stop(_ playing: Playing, _ finish: Finish) -> [TransportEffect] {
        var playing = playing
        playing.stage = .ending(finish)
        phase = .playing(playing)
        return [.stopPlaying]
    }
}
