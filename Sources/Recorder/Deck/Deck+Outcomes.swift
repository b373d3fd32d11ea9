import Panel
import Playback
import Recording
import Ring
import TakeFiles
public import Takes
import Transport
import Workers

// The reports of the workers.
extension Deck {
    public var fileDescriptors: [Int32] { workers.fileDescriptors }

    /// Collects the outcomes of the workers, and announces the change.
    public func ready(now: Instant) {
        collect()
        announce(.changed)
    }

    func collect() {
        for outcome in workers.card.outcomes() { take(outcome) }
        if card.open != nil, let end = workers.source.end { carryOut(card.ended(end, now: clock.now())) }
        for outcome in workers.storage.outcomes() { take(outcome) }
        for outcome in workers.writer.outcomes() { take(outcome) }
        for outcome in workers.player.outcomes() { take(outcome) }
        for outcome in workers.archivist.outcomes() { take(outcome) }
        settleCard(now: clock.now())
        settleSearch(now: clock.now())
        updateFaults()
    }

    // MARK: The card

    private func take(_ outcome: CardOutcome) {
        switch outcome {
        case .opened(let grant, let ring, let start, let received):
            let isNew = lastGrant != grant
            lastGrant = grant
            if isNew {
                options.reports(of: grant, ring, now: clock.now()).forEach(report)
                announce(.happened(.opened(grant)))
            }
            carryOut(card.opened(grant, ring, from: start, receivedBefore: received, now: clock.now()))
            opened()
        case .failed(let message): carryOut(card.failed(message, now: clock.now()))
        case .gain(let change, let failure, let asker):
            if let change { take(change.0, confirmedAt: change.at) }
            reply(asker, failure.map { .failure(Refusal($0)) } ?? .success(status))
        case .looked(let better): search.found(better, now: clock.now())
        case .readGain(let found): if let found { take(found.0, confirmedAt: found.at) }
        case .closed: decide(.cardClosed)
        }
    }

    private func take(_ gain: CardGain, confirmedAt instant: Instant) {
        guard let open = card.open, open.grant.gain != gain else { return }
        card.confirmed(gain, at: instant)
        if let last = changed.indices.last { changed[last].note(gain, at: instant) }
        input?.gainChanged()
        workers.writer.post(.gain(gain, at: instant))
        report(.set(gain, of: open.grant))
    }

    func carryOut(_ actions: [CardState.Action]) {
        if let open = card.open {
            if input?.ring !== open.ring { input = InputWatch(open, filter: filter) }
        } else {
            input = nil
        }
        for action in actions {
            switch action {
            case .open(let request): workers.card.post(.open(request))
            case .close: workers.card.post(.close)
            case .answered: decide(.cardAnswered)
            case .lost: decide(.cardLost)
            case .kept(let grant, let reason): keep(grant, because: reason)
            case .delivers: cardIsBack()
            }
        }
    }

    // MARK: The storage

    private func take(_ outcome: StorageOutcome) {
        for sentence in workers.key?.newSentences() ?? [] { report(Report(.warning, sentence)) }
        switch outcome {
        case .opened(let directory, let takes, let isOwn, let unusedStick):
            guard stick.mayOpen || directory.path != options.stick?.folder else {
                // An eject was requested meanwhile.
                return carryOut(storage.failedToOpen("storage: the stick is being unmounted"))
            }
            // The number is read before a take that waits for the folder begins, because that take is the writer's. So
            // is a take in progress whose folder was removed and made again.
            let last = min(directory.lastNumber, transport.recordedTake.map { $0.number - 1 } ?? .max)
            selection = Selection(takes: takes)
            opened(directory, unusedStick: unusedStick)
            carryOut(storage.opened(directory, isOwn: isOwn))
            recovery.opened()
            workers.archivist.post(
                .keep(directory, upTo: last, bootID: options.bootID, endings: recovery.endings))
            // The date may have been set while the folder was absent.
            dateTakes()
            carryOut(storage.ask(now: clock.now()))
        case .absent(let message): carryOut(storage.failedToOpen(message))
        case .foundStick(let mounted, let hasRoom): note(mounted, hasRoom: hasRoom)
        case .checked(let directory, let reading):
            guard directory === storage.directory else { return }
            carryOut(storage.checked(reading, leastBytes: options.leastBytes(likelyFormat)))
            leaveUselessStick()
            makeRoom()
        }
    }

    func carryOut(_ actions: [StorageState.Action]) {
        for action in actions {
            switch action {
            case .open(let mustBeOwn): openStorage(mustBeOwn: mustBeOwn)
            case .check:
                if let directory = storage.directory { workers.storage.post(.check(directory, day: dayOfNextTake)) }
            case .probe:
                if let directory = storage.directory { workers.storage.post(.probe(directory, day: dayOfNextTake)) }
            case .improved:
                recovery.storageImproved()
                workers.archivist.post(.retry)
                // A dating order may have failed while the storage failed.
                dateTakes()
            case .left: leaveDirectory()
            case .answered:
                decide(.storageAnswered)
                recoverLeftovers()
            }
        }
    }

    private func leaveDirectory() {
        report(Report(.notice, "storage: \(storage.path): it was removed, or another is in its place"))
        closeDirectory()
        carryOut(storage.ask(now: clock.now()))
    }

    /// Releases the folder, so that no open file holds its storage.
    func closeDirectory() {
        workers.archivist.post(.leave)
        recovery.closed()
        // The tail would keep the removed storage busy.
        dropTail()
        selection = Selection()
    }

    /// Orders a recovery, if unfinished takes are due and the storage works.
    private func recoverLeftovers() {
        // During a take only the writer uses the storage.
        guard !isRecording, case .ok(let directory, _?) = storage.state, let scope = recovery.takeSearch() else {
            return
        }
        workers.archivist.post(.recover(scope, upTo: directory.lastNumber, endings: recovery.endings))
    }

    // MARK: The writer

    private func take(_ outcome: WriterOutcome) {
        switch outcome {
        case .began(let name):
            carryOut(storage.tookTake())
            faults.drop(.storageFailing)
            report(Report(.info, "record: \(name.stem)"))
            announce(.happened(.began(name)))
            decide(.takeBegan(name))
        case .progress(let progress):
            recorded?.report = (progress, clock.now())
            noteLiveTake(progress)
        case .warned(let message): report(Report(.warning, "record: \(message)"))
        case .troubled(let fault):
            faults.show(fault, until: clock.now() + FaultBoard.endShown)
            updateFaults()
        case .finished(let name, let sidecar, let failure, let hasTail):
            endLiveTake(name, at: sidecar.end)
            let rest = failure == nil ? nil : restForInside
            if failure == nil { recovery.tookTake() }
            add(name, sidecar)
            if let failure { showFailure(failure) }
            if !hasTail {
                convert(name, sidecar)
            } else {
                conversionAfterTail = sidecar.pendingFormat.map { _ in name }
            }
            decide(.takeFinished(name, hasTail: hasTail))
            goOnInside(rest, isStickFull: failure?.code == .diskFull)
        case .next(let finished, let sidecar, let began):
            endLiveTake(finished, at: sidecar.end)
            add(finished, sidecar)
            convert(finished, sidecar)
            report(Report(.info, "record: \(began.stem)"))
            announce(.happened(.began(began)))
            // The report so far is that of the previous take.
            recorded?.report = nil
            decide(.takeFollowed(by: began))
        case .leftBehind(let left, let fault, let began):
            endLiveTake(left, at: progress.map { TakeFrame($0.frames) })
            recovery.abandoned(left, because: .next, in: recordedIn)
            report(Report(.info, "record: \(began.stem)"))
            announce(.happened(.began(began)))
            recorded?.report = nil
            faults.show(fault, until: clock.now() + FaultBoard.endShown)
            decide(.takeFollowed(by: began))
        case .rejoined(let name):
            conversionAfterTail = nil
            report(Report(.info, "record: \(name.stem) goes on"))
            announce(.happened(.began(name)))
            decide(.takeRejoined(name))
        case .tailEnded(let name, let end):
            tailEnded(name, end)
            if let take = conversionAfterTail { workers.archivist.post(.convert(take)) }
            conversionAfterTail = nil
            if !isRecording { recorded = nil }
            decide(.tailEnded)
        case .failed(let message, let isDiskFull):
            let name = transport.recordedTake
            if let name { endLiveTake(name, at: progress.map { TakeFrame($0.frames) }) }
            let rest = restForInside
            recovery.abandoned(name, because: isDiskFull ? .diskFull : .storageError, in: recordedIn)
            showFailure(Fault(isDiskFull ? .diskFull : .storageFailing, "record: \(message)"))
            decide(.takeFailed(Refusal(.storageUnusable(message: "record: \(message)", isFull: isDiskFull))))
            goOnInside(rest, isStickFull: isDiskFull)
        }
    }

    private func tailEnded(_ name: TakeName, _ end: TailEnd) {
        switch end {
        case .dropped: break
        case .givenUp(let why): report(Report(.notice, "record: the sound behind the last take was dropped: \(why)"))
        case .storageFailed(let why):
            report(Report(.error, "record: the sound behind the last take was dropped: \(why)"))
            // The rest of its files is removed once the storage allows that.
            _ = recovery.failed("\(name.stem): \(why)")
            carryOut(storage.doubt(now: clock.now()))
        }
    }

    private func add(_ name: TakeName, _ sidecar: Sidecar) {
        if storage.path == recordedIn { selection.add(name) }
        report(.ended(name, sidecar))
        announce(.happened(.finished(sidecar)))
        announce(.takeChanged(TakeChange(finished: sidecar)))
    }

    private func convert(_ name: TakeName, _ sidecar: Sidecar) {
        if sidecar.pendingFormat != nil { workers.archivist.post(.convert(name)) }
    }

    /// Shows for a while why a take ended early. A full disk usually shows in the free bytes, but not if a quota or the
    /// file system sets a lower limit. Storage that failed once may accept the next take.
    private func showFailure(_ fault: Fault) {
        switch fault.code {
        // Only if the failed folder is still the open one.
        case .storageFailing where storage.path == recordedIn: storage.failedTake(fault.message)
        // There may be free bytes but no room for a file.
        case .diskFull: carryOut(storage.doubt(now: clock.now()))
        case .storageFailing, .noCard, .clockUnset, .overload, .uploadRefused, .settings, .signal: break
        }
        faults.show(fault, until: clock.now() + FaultBoard.endShown)
    }

    // MARK: The player

    private func take(_ outcome: PlayOutcome) {
        if case .monitor(let news) = outcome { return note(news) }
        guard case .playing(let playing) = transport.phase else { return }
        switch outcome {
        case .began(let facts):
            played = Played(facts: facts)
            report(.plays(playing.name, facts))
            decide(.playBegan)
        case .progress(let progress): played?.progress = progress
        case .done: decide(.playChanged)
        case .ended(let instant, let position, let failure):
            // The card may take a moment to become silent.
            if played != nil {
                silentSince = instant + Self.afterglow
                input?.passOver(upTo: instant + Self.afterglow)
            }
            played = nil
            if failure == nil {
                report(Report(.info, "play: \(playing.name.stem): ended at \(Report.seconds(position))"))
            }
            guard let failure else { return decide(.playEnded(failure: nil)) }
            let refusal = Refusal(.notPlayable(message: failure.message, isCardInUse: failure.isCardInUse))
            decide(failure.isCardInUse ? .playBlocked(refusal) : .playEnded(failure: refusal))
        case .monitor: break
        }
    }

    // MARK: The archivist

    private func take(_ outcome: ArchiveOutcome) {
        switch outcome {
        case .recovered(let take, let sidecar):
            selection.insert(take)
            recovery.settled(take)
            report(.recovered(take, sidecar))
            announce(.happened(.finished(sidecar)))
            announce(.takeChanged(TakeChange(finished: sidecar)))
            convert(take, sidecar)
            // The date may have been set meanwhile.
            if sidecar.bootID == options.bootID { dateTakes() }
        case .settled(let take, let line):
            recovery.settled(take)
            if let line { report(line) }
        case .left(let take, let fault, let line):
            recovery.left(take, fault)
            if let line { report(line) }
        case .found(let takes): recovery.found(takes)
        case .revised(let take): announce(.takeChanged(TakeChange(.revised, take: take.stem)))
        case .discarded(let take, let discarding):
            let askers = recovery.discardEnded(take)
            if discarding.isGone {
                let news = discarding.refusal.map { Report(.warning, $0.message) }
                report(
                    news ?? Report(.notice, "discard: \(take.stem): \(discarding.isFinal ? "deleted" : "in the bin")"))
                selection.remove(take)
                announce(.takeChanged(TakeChange(.discarded, take: take.stem)))
            }
            for asker in askers {
                reply(asker, discarding.refusal.map { .failure($0) } ?? .success(status))
            }
        case .restored(let take, let refusal): restored(take, refusal)
        case .emptied(_, let refusal): emptied(refusal)
        case .sought(let reference, let found, let directory): sought(reference, found, in: directory)
        case .unrecovered(let message):
            if recovery.failed(message) { report(Report(.error, message)) }
            carryOut(storage.doubt(now: clock.now()))
        case .activity(let activity): archiving = activity
        case .reported(let line): report(line)
        }
    }
}
