import Ring
import TakeFiles
import Takes
import Transport

// Playing takes. What the deck decides the player does, on its own thread; nothing here waits for a card or a file.
extension Deck {
    /// Plays a take; nil: goes on with the one that is paused, or plays the selected one from its beginning.
    func play(_ reference: TakeReference?, _ completion: @escaping Completion) {
        play(reference, now: clock.now(), completion)
    }

    func play(_ reference: TakeReference?, now: Instant, _ completion: @escaping Completion) {
        switch phase {
        case .recording(let take):
            let refusal = isBeingRecorded(take, "play")
            refuse(refusal, now: now)
            completion(.failure(refusal))
        case .playing(let play):
            if play.isEnding {
                later(completion) { [self] in self.play(reference, completion) }
            } else if reference != nil {
                // Refused at once, if there is no such take, while the one that plays goes on.
                guard take(reference, now: now, completion) != nil else { return }
                endPlaying { _ in }
                later(completion) { [self] in self.play(reference, completion) }
            } else if play.isPaused {
                resume(completion)
            } else {
                completion(.success(status))
            }
        case .idle:
            openDirectory()
            guard let directory else {
                let why = faults[.storageFailing]?.message ?? "\(options.directory) is not there"
                let refusal = Refusal(.io, "play: \(why)")
                refuse(refusal, now: now)
                return completion(.failure(refusal))
            }
            guard let take = take(reference, now: now, completion) else { return }
            selection.select(take)
            begin(take, in: directory, completion)
        }
    }

    /// The take that is meant, or nil when the completion was told that there is none.
    private func take(
        _ reference: TakeReference?, now: Instant, _ completion: Completion
    ) -> TakeName? {
        do throws(Refusal) {
            if let reference { return try find(reference, for: "play") }
            guard let selected = selection.selected, discards[selected] == nil else {
                throw Refusal(.notFound, "play: there is no take yet in \(options.directory)")
            }
            return selected
        } catch {
            refuse(error, now: now)
            completion(.failure(error))
            return nil
        }
    }

    private func begin(_ take: TakeName, in directory: TakesDirectory, _ completion: @escaping Completion) {
        restsUntil = nil
        phase = .playing(OpenPlay(name: take, whenBegun: [completion]))
        order(take, in: directory)
    }

    private func order(_ take: TakeName, in directory: TakesDirectory) {
        player.orders.post(
            .begin(
                PlayBegin(
                    take: take, directory: directory, card: options.playbackCard,
                    companion: input.flatMap { CardReference($0.grant.card) } ?? options.capture.card, volume: volume)))
    }

    func pause(_ completion: @escaping Completion) {
        change("pause", .pause, completion) { $0.isPaused = true }
    }

    func resume(_ completion: @escaping Completion) {
        change("play", .resume, completion) { $0.isPaused = false }
    }

    func skip(bySeconds seconds: Double, _ completion: @escaping Completion) {
        guard seconds.isFinite else {
            return completion(.failure(Refusal(.badData, "skip: \(seconds) is no number of seconds")))
        }
        change("skip", .skip(bySeconds: seconds), completion) { _ in }
    }

    func setVolume(_ volume: Double, _ completion: @escaping Completion) {
        self.volume = volume
        guard case .playing(let play) = phase, !play.isEnding else { return completion(.success(status)) }
        change("volume", .volume(volume), completion) { _ in }
    }

    /// Tells the player something about what it plays; it is told that it is done.
    private func change(
        _ command: String, _ order: PlayOrder, _ completion: @escaping Completion, _ note: (inout OpenPlay) -> Void
    ) {
        guard case .playing(var play) = phase, !play.isEnding else {
            return completion(.failure(Refusal(.busy, "\(command): nothing is being played: play a take first")))
        }
        note(&play)
        play.whenDone.append(completion)
        if play.facts == nil { play.ordersSinceBegin.append(order) }
        phase = .playing(play)
        player.orders.post(order)
    }

    /// Ends the playing, and tells once nothing is heard any more.
    func endPlaying(_ completion: @escaping Completion) {
        guard case .playing(var play) = phase else { return completion(.success(status)) }
        play.whenEnded.append(completion)
        let wasEnding = play.isEnding
        play.isEnding = true
        phase = .playing(play)
        if !wasEnding { player.orders.post(.stop) }
    }

    /// Ends the playing, and records from when nothing is heard any more.
    func stopThenRecord(at instant: Instant, now: Instant, _ completion: @escaping Completion) {
        endPlaying { _ in }
        later(completion) { [self] in start(at: instant, now: clock.now(), completion) }
    }

    /// Takes note of what the player did.
    public func hearPlayer() {
        for outcome in player.outcomes.take() { hear(outcome) }
        onChange()
    }

    private func hear(_ outcome: PlayOutcome) {
        guard case .playing(var play) = phase else { return }
        switch outcome {
        case .began(let facts):
            play.facts = facts
            let waiting = play.whenBegun
            play.whenBegun = []
            phase = .playing(play)
            report(Report(.info, "play: \(play.name.stem): \(Report.seconds(facts.seconds)) on \(facts.summary)"))
            for completion in waiting { completion(.success(status)) }
        case .done:
            guard !play.whenDone.isEmpty else { return }
            let completion = play.whenDone.removeFirst()
            phase = .playing(play)
            completion(.success(status))
        case .ended(let instant, let failure):
            if let failure, failure.isCardInUse, lendCard(to: play) { return }
            close(play, at: instant, failure)
        }
    }

    /// A card may be unable to record and play at once: closes the one that records, and tries again.
    private func lendCard(to play: OpenPlay) -> Bool {
        guard input != nil, !isCardLent, !play.isEnding, play.facts == nil, let directory else { return false }
        disarm()
        isCardLent = true
        order(play.name, in: directory)
        // What came meanwhile was lost on a player that had nothing to play.
        for order in play.ordersSinceBegin { player.orders.post(order) }
        return true
    }

    private func close(_ play: OpenPlay, at instant: Instant, _ failure: PlayFailure?) {
        phase = .idle
        // A card may need a moment to be silent.
        if play.facts != nil { silentSince = instant + Self.afterglow }
        if isCardLent {
            isCardLent = false
            arm(now: clock.now())
        }
        let outcome: Result<Status, Refusal>
        if let failure {
            let refusal = Refusal(.io, failure.message)
            refuse(refusal, now: clock.now())
            outcome = .failure(refusal)
        } else {
            report(Report(.info, "play: \(play.name.stem): ended"))
            outcome = .success(status)
        }
        for completion in play.whenBegun + play.whenDone + play.whenEnded { completion(outcome) }
        // Of what was asked for since, only the first can find the deck idle; it takes the others on.
        for waiting in play.waiting { waiting.work() }
    }
}
