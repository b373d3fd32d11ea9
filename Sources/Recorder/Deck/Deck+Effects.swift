import Filters
import Panel
import Playback
import Recording
import Ring
import TakeFiles
import Takes
import Transport
import Workers

// Carries out the effects that the transport decides.
extension Deck {
    func carryOut(_ effect: TransportEffect) {
        switch effect {
        case .openCard: carryOut(card.retry(now: clock.now()))
        case .checkStorage: carryOut(storage.ask(now: clock.now()))
        case .closeForPlayer: carryOut(card.release(forPlayer: true))
        case .reopenCard: if options.isListening { carryOut(card.need(now: clock.now())) }
        case .closeCard: carryOut(card.release())
        case .begin(let instant, let initiator, let from): begin(at: instant, by: initiator, from: from)
        case .beginOther(let instant, let initiator): beginOther(at: instant, by: initiator)
        case .mark(let mark):
            recorded?.markersGiven += 1
            workers.writer.post(.mark(mark))
            report(Report(.info, "mark: at \(Report.seconds(secondsIntoTake(at: mark.place)))"))
        case .suspend: workers.writer.post(.suspend)
        case .resumeTake(let away): resumeTake(after: away)
        case .end(let instant, let ending, let keepsTail):
            announce(.happened(.ending(ending)))
            if ending == .cardLost, !card.hasOtherChannels { report(.cardStaysAway(card.awaitedBy)) }
            showLosses(areMissedWanted: true)
            workers.writer.post(.end(at: instant, ending.written, keepsTail: keepsTail))
        case .follow(let instant):
            recorded?.markersGiven = 0
            workers.writer.post(.next(at: instant, pressedWall: clock.offset().wallTime(at: instant)))
        case .rejoin(_, let initiator):
            recorded?.initiator = initiator
            workers.writer.post(.rejoin)
            card.expect(card.open?.grant)
        case .dropTail: workers.writer.post(.dropTail)
        case .play(let take): play(take)
        case .change(let change): self.change(change)
        case .stopPlaying: workers.player.post(.stop)
        case .select(let steps): select(steps: steps)
        case .refuse(let refusal): refuse(refusal)
        case .lockChanged(let isLocked): lockChanged(isLocked: isLocked)
        case .reply(let asker, let reply): self.reply(asker, result(reply))
        case .takeOver: takeOver()
        case .eject: ejectByButton()
        case .pair: openPairing()
        case .openAccess: announce(.openAccess)
        case .adoptStick: adoptStickByButtons()
        case .powerOff:
            report(Report(.notice, "shutting down"))
            announce(.powerOff)
        }
    }

    private func result(_ reply: TransportReply) -> Result<Status, Refusal> {
        var status = status
        switch reply {
        case .done: break
        // The writer may be behind, so the marker's own place is used.
        case .marked(let place): status.elapsedSeconds = secondsIntoTake(at: place)
        case .take(let take): status.take = take?.stem ?? status.take
        case .refused(let refusal): return .failure(refusal)
        }
        return .success(status)
    }

    // MARK: Takes

    /// Orders a take that begins with the frame sampled at `instant`, minus the pre-roll.
    private func begin(at instant: Instant, by initiator: TakeInitiator, from: Instant?) {
        guard let open = card.open, let input else {
            return decide(.takeFailed(Refusal(.cardAway)))
        }
        begin(at: instant, by: initiator, from: from, with: open, input.design)
    }

    /// - Parameters:
    ///   - from: the sample time of the first frame, or nil for the pre-roll of the settings.
    ///   - open: the opening of the card that the take begins with.
    func begin(
        at instant: Instant, by initiator: TakeInitiator, from: Instant? = nil, with open: OpenCard,
        _ design: FilterDesign
    ) {
        guard let directory = storage.directory else {
            let fault = storage.obstacle(now: clock.now()) ?? Fault(.storageFailing, "the storage went away")
            return decide(.takeFailed(Refusal(storage: fault).about("record")))
        }
        recorded = RecordedTake(folder: directory.path, initiator: initiator)
        // After the ring's duration, the sound from before `since` is overwritten.
        if let since = silentSince, clock.now() - since > open.ring.duration { silentSince = nil }
        let preRoll =
            from.map { min(max(.zero, instant - $0), held(in: open.ring, at: instant)) }
            ?? (options.isListening ? options.preRoll : .zero)
        let gains = open.gains(since: instant - preRoll)
        var grant = open.grant
        grant.gain = gains.first
        let order = BeginOrder(
            ring: open.ring, opened: open.start, pressed: instant, pressedWall: clock.offset().wallTime(at: instant),
            earliest: silentSince, preRoll: preRoll, filter: design,
            plan: options.plan(grant, directory, clock: clockOrigin, startedBy: initiator))
        workers.writer.post(.begin(order))
        for change in gains.changes { workers.writer.post(.gain(change.gain, at: change.at)) }
        card.expect(open.grant)
    }

    /// How long before an instant the ring's oldest frame was sampled. A take is named by its first frame.
    private func held(in ring: Ring, at instant: Instant) -> Duration {
        let oldest = RingPosition(max(0, ring.position.count - ring.capacityFrames))
        return ring.instant(ofFrame: oldest).map { max(.zero, instant - $0) } ?? ring.duration
    }

    private func resumeTake(after away: Duration) {
        guard let open = card.open, let input else { return }
        var grant = open.grant
        let before = card.awaitedBy
        // The take keeps its name for the card.
        if let before, grant.isOfSameCard(as: before) { grant.card = before.card }
        workers.writer.post(
            .resume(
                ResumeOrder(
                    ring: open.ring, opened: open.start, filter: input.design, gain: grant.gain, card: grant.place)))
        report(.goesOn(transport.recordedTake, after: away, with: grant, insteadOf: before))
        card.expect(grant)
    }

    private func takeOver() {
        card.expect(nil)
        if recorded?.date == .set { dateTakes() }
        switch transport.tail {
        case .none, .dropping: recorded = nil
        case .running, .rejoining:
            recorded?.report = nil
            recorded?.date = .unchanged
        }
        // Storage that just failed a take gets a moment to recover.
        if case .suspect = storage.state {} else { carryOut(storage.ask(now: clock.now())) }
    }

    /// Seconds from the first frame of the take in progress to a place.
    private func secondsIntoTake(at place: Mark.Place) -> Double {
        switch place {
        case .instant(let instant): secondsIntoTake(at: instant)
        case .frame(let frame): Double(frame.count) / Double(max(1, rateOfTake))
        }
    }

    /// Seconds from the first frame of the take in progress to an instant.
    func secondsIntoTake(at instant: Instant) -> Double {
        guard case .recording(let take) = transport.phase else { return 0 }
        return max(0, (instant - (progress?.started ?? take.since - options.preRoll)).inSeconds)
    }

    // MARK: Playing

    private func play(_ take: TakeName) {
        guard let directory = storage.directory else {
            return decide(.playEnded(failure: Refusal(.storageAway(subject: "play", folder: storage.path))))
        }
        selection.select(take)
        played = nil
        workers.player.post(
            .begin(
                PlayBegin(
                    take: take, directory: directory, card: options.playbackCard, companion: companionOfPlayback,
                    volume: playing.volume, tuning: playing.tuning)))
    }

    /// The card that records. The setting `auto` plays on it too.
    var companionOfPlayback: CardReference {
        card.open.flatMap { CardReference($0.grant.card) } ?? options.capture.card
    }

    private func change(_ change: PlayChange) {
        playing.apply(change)
        guard case .playing = transport.phase else { return }
        workers.player.post(change.order)
    }

    // MARK: The panel

    private func select(steps: Int) {
        let moved = selection.move(by: steps)
        answer = Indication.Answer(moved ? .selected : .atTheEnd, at: clock.now())
        guard let take = selection.selected else { return }
        report(Report(.info, "select: \(take.stem)" + (moved ? "" : ", the \(steps < 0 ? "first" : "last") there is")))
    }

    func refuse(_ refusal: Refusal) {
        answer = Indication.Answer(.refused, at: clock.now())
        // A fault is reported by the fault board.
        if !faults.shows(refusal.message) { report(Report(.notice, refusal.message)) }
    }

    private func lockChanged(isLocked: Bool) {
        answer = Indication.Answer(isLocked ? .locked : .unlocked, at: clock.now())
        report(Report(.notice, isLocked ? "panel: locked" : "panel: unlocked"))
    }
}
