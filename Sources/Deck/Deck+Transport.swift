import Filters
public import Panel
import Ring
import TakeFiles
import Takes
public import Transport

// MARK: - Buttons

extension Deck {
    /// Does what a button asks for.
    public func handle(_ gesture: Gesture) {
        switch gesture {
        case .press(let button, let instant): press(button, at: instant)
        case .repeat(let button, let instant):
            switch button {
            case .back, .forward: press(button, at: instant)
            case .record, .stop, .play: break
            }
        case .shutdown: shutDown(because: "stop was held")
        }
    }

    private func press(_ button: Button, at instant: Instant) {
        if isEnding {
            switch button {
            case .record, .stop: later({ _ in }) { [self] in press(button, at: instant) }
            case .play, .back, .forward: break
            }
            return
        }
        let now = clock.now()
        switch state.action(for: button) {
        case .nothing: break
        case .startTake: start(at: instant, now: now) { _ in }
        case .dropMarker: mark(note: nil, at: instant)
        case .endTake: endTake(at: instant, because: .stop) { _ in }
        case .selectBefore: step(by: -1, now: now)
        case .selectAfter: step(by: 1, now: now)
        case .refuse:
            // A card may have come back since it was last looked for.
            if button == .record {
                start(at: instant, now: now) { _ in }
            } else {
                refuse(Refusal(.busy, "\(button.rawValue): refused while a take is recorded"), now: now)
            }
        case .playSelected: play(nil, now: now) { _ in }
        case .stopThenRecord: stopThenRecord(at: instant, now: now) { _ in }
        case .stopPlaying: endPlaying { _ in }
        case .pause: pause { _ in }
        case .resume: resume { _ in }
        case .skipBack: skip(bySeconds: -options.skip.inSeconds) { _ in }
        case .skipForward: skip(bySeconds: options.skip.inSeconds) { _ in }
        }
        onChange()
    }

    private func step(by steps: Int, now: Instant) {
        let moved = selection.move(by: steps)
        answer = Indication.Answer(moved ? .selected : .atTheEnd, at: now)
        if let take = selection.selected {
            report(
                Report(.info, "select: \(take.stem)" + (moved ? "" : ", the \(steps < 0 ? "first" : "last") there is")))
        }
    }

    func refuse(_ refusal: Refusal, now: Instant) {
        answer = Indication.Answer(.refused, at: now)
        report(Report(.notice, refusal.message))
    }
}

// MARK: - Commands

extension Deck {
    /// Does what a command asks for, and tells its outcome when it is known: of `stop` once the take is on disk.
    public func perform(_ command: Command, _ completion: @escaping Completion) {
        let now = clock.now()
        switch command {
        case .record: record(now: now, completion)
        case .stop: stop(now: now, completion)
        case .mark(let note):
            guard case .recording(let take) = phase, !take.isEnding else {
                completion(.failure(Refusal(.busy, "mark: nothing is being recorded: record a take first")))
                break
            }
            mark(note: note, at: now)
            // Where the marker is: the writer is behind.
            var marked = status
            marked.elapsedSeconds = secondsIntoTake(at: now)
            completion(.success(marked))
        case .select(let reference):
            conclude(completion) { () throws(Refusal) in
                selection.select(try find(reference, for: "select"))
                answer = Indication.Answer(.selected, at: now)
            }
        case .filter(let lowPass, let slope, let highPass):
            conclude(completion) { () throws(Refusal) in
                var wanted = filter
                wanted.lowPass = lowPass ?? wanted.lowPass
                wanted.slopeDBPerOctave = slope ?? wanted.slopeDBPerOctave
                wanted.highPass = highPass ?? wanted.highPass
                try change(to: wanted)
            }
        case .discard(let reference): discard(reference, completion)
        case .play(let reference): play(reference, completion)
        case .pause:
            if case .playing(let play) = phase, play.isPaused {
                completion(.success(status))
            } else {
                pause(completion)
            }
        case .skip(let seconds): skip(bySeconds: seconds, completion)
        case .volume(let volume): setVolume(volume, completion)
        }
        onChange()
    }

    private func conclude(_ completion: Completion, _ work: () throws(Refusal) -> Void) {
        do {
            try work()
            completion(.success(status))
        } catch {
            completion(.failure(error))
        }
    }

    private func record(now: Instant, _ completion: @escaping Completion) {
        switch phase {
        case .idle: start(at: now, now: now, completion)
        case .recording(let take):
            if take.isEnding {
                later(completion) { [self] in start(at: now, now: clock.now(), completion) }
            } else {
                completion(.failure(isBeingRecorded(take, "record")))
            }
        case .playing: stopThenRecord(at: now, now: now, completion)
        }
    }

    private func stop(now: Instant, _ completion: @escaping Completion) {
        switch phase {
        case .idle: completion(.success(status))
        case .recording(let take):
            if take.waiting.isEmpty {
                endTake(at: now, because: .stop, completion)
            } else {
                later(completion) { [self] in stop(now: now, completion) }
            }
        case .playing(let play):
            if play.waiting.isEmpty {
                endPlaying(completion)
            } else {
                later(completion) { [self] in stop(now: now, completion) }
            }
        }
    }

    func find(_ reference: TakeReference, for command: String) throws(Refusal) -> TakeName {
        if case .recording(let take) = phase, let name = take.name, reference.names(name) {
            throw isBeingRecorded(take, command)
        }
        guard let take = selection.find(reference), discards[take] == nil else {
            throw Refusal(.notFound, "\(command): \(reference): no such take in \(options.directory)")
        }
        return take
    }

    /// Why a command has to wait until a take has ended.
    func isBeingRecorded(_ take: OpenTake, _ command: String) -> Refusal {
        Refusal(.busy, "\(command): \(take.name?.stem ?? "a take") is being recorded: stop it first")
    }

    private func change(to wanted: FilterRequest) throws(Refusal) {
        if let rate = input?.ring.format.rateHz {
            let design: FilterDesign
            do {
                design = try FilterDesign(wanted, rateHz: rate)
            } catch {
                throw Refusal(.badData, "\(error)")
            }
            input?.filter = design
            faults.clear(.settings)
            if case .recording = phase { writer.orders.post(.filter(design)) }
        }
        filter = wanted
    }
}

// MARK: - Takes

extension Deck {
    /// Starts a take whose first frame is the one heard at `instant`, less the pre-roll.
    func start(at instant: Instant, now: Instant, _ completion: @escaping Completion) {
        restsUntil = nil
        openDirectory()
        // Another card may be in the place of the one that was last looked at.
        checkPlace()
        arm(now: now)
        // Old enough, it is overwritten.
        if let since = silentSince, let ring = input?.ring, now - since > ring.duration { silentSince = nil }
        checkStorage()
        guard let input, let directory, !isStorageUnreadable else {
            let fault = faults[.noCard] ?? faults[.storageFailing]
            let refusal = Refusal(.io, "record: \(fault?.message ?? "no card")")
            refuse(refusal, now: now)
            completion(.failure(refusal))
            return
        }
        if isFull {
            let refusal = Refusal(.io, "record: \(faults[.diskFull]?.message ?? "the disk is full")")
            refuse(refusal, now: now)
            completion(.failure(refusal))
            return
        }
        var order = BeginOrder(
            ring: input.ring, grant: input.grant, directory: directory, kit: options.kit, pressed: instant,
            pressedWall: clock.offset().wallTime(at: instant), earliest: silentSince,
            clock: originOfClock(selection.takes.last?.day), bootID: options.bootID,
            preRoll: options.isListening ? options.preRoll : .zero, lag: options.pressAge, filter: input.filter,
            keepUnfiltered: options.keepsUnfiltered, syncPromise: options.syncPromise, splitBytes: options.splitBytes,
            reserveBytes: options.reserveBytes, pendingFormat: options.convertsToFLAC ? "flac" : nil,
            version: options.version)
        order.frameWatch = input.frames
        writer.orders.post(.begin(order))
        archivist.orders.post(.giveWay(true))
        phase = .recording(OpenTake(pressed: instant, grant: input.grant, whenBegun: [completion]))
        lastSync = nil
    }

    /// Whether a take was told to end and is not yet on disk: presses from then on are for what comes after it.
    private var isEnding: Bool {
        switch phase {
        case .recording(let take): take.isEnding
        case .playing(let play): play.isEnding
        case .idle: false
        }
    }

    /// Does something once the take that ends is on disk, or its sound is over; never, if the deck is to finish.
    func later(_ completion: @escaping Completion, _ work: @escaping () -> Void) {
        guard !isFinishing else {
            refuse(Self.shuttingDown, now: clock.now())
            return completion(.failure(Self.shuttingDown))
        }
        switch phase {
        case .recording(var take):
            take.waiting.append(Waiting(work: work, completion: completion))
            phase = .recording(take)
        case .playing(var play):
            play.waiting.append(Waiting(work: work, completion: completion))
            phase = .playing(play)
        case .idle: work()
        }
    }

    private func mark(note: String?, at instant: Instant) {
        writer.orders.post(.mark(at: instant, note: note))
        report(Report(.info, "mark: at \(Report.seconds(secondsIntoTake(at: instant)))"))
    }

    /// How long after the first frame of the take that is recorded.
    private func secondsIntoTake(at instant: Instant) -> Double {
        guard case .recording(let take) = phase else { return 0 }
        return max(0, (instant - (writer.progress?.started ?? take.pressed - options.preRoll)).inSeconds)
    }

    /// Ends the take with the frame heard at `instant`; nil: with the last one that there is.
    func endTake(at instant: Instant?, because ending: Sidecar.Ending, _ completion: @escaping Completion) {
        guard case .recording(var take) = phase else { return }
        take.isEnding = true
        take.whenFinished.append(completion)
        phase = .recording(take)
        writer.orders.post(.end(at: instant, ending))
    }

    /// Ends what is going on, as for switching off, and calls `done` once it is on disk.
    public func finish(_ done: @escaping () -> Void) {
        switch phase {
        case .idle:
            done()
            rest()
        case .recording(var take):
            isFinishing = true
            let waiting = take.waiting
            take.waiting = []
            phase = .recording(take)
            for left in waiting { left.completion(.failure(Self.shuttingDown)) }
            endTake(at: clock.now(), because: .shutdown) { [self] _ in
                isFinishing = false
                done()
                rest()
            }
        case .playing(var play):
            isFinishing = true
            let waiting = play.waiting
            play.waiting = []
            phase = .playing(play)
            for left in waiting { left.completion(.failure(Self.shuttingDown)) }
            endPlaying { [self] _ in
                isFinishing = false
                done()
                rest()
            }
        }
    }

    private static let shuttingDown = Refusal(.busy, "the kit is shutting down")

    private func rest() {
        disarm()
        restsUntil = clock.now() + Self.rest
    }

    private func shutDown(because reason: String) {
        report(Report(.notice, "shutting down: \(reason)"))
        finish { [self] in onPowerOff() }
    }

    /// Takes note of what the writer did.
    public func hearWriter() {
        let now = clock.now()
        for outcome in writer.outcomes.take() {
            hear(outcome, now: now)
        }
        onChange()
    }

    private func hear(_ outcome: Outcome, now: Instant) {
        guard case .recording(var take) = phase else { return }
        switch outcome {
        case .began(let name):
            take.name = name
            let waiting = take.whenBegun
            take.whenBegun = []
            phase = .recording(take)
            isStorageSuspect = false
            faults.drop(.storageFailing)
            report(Report(.info, "record: \(name.stem)"))
            for completion in waiting { completion(.success(status)) }
        case .synced:
            // The lamp winks from now on: the writer hears of a sync only when it next turns, later than a wink is long.
            lastSync = now
        case .warned(let message):
            report(Report(.warning, "record: \(message)"))
        case .finished(let name, let sidecar, let failure):
            selection.add(name)
            let length =
                "\(sidecar.frames) frames, \(Report.seconds(sidecar.durationSeconds)), \(sidecar.gaps.count) gaps"
            report(Report(.info, "stop: \(name.stem): \(length), ended by \(sidecar.endedBy?.rawValue ?? "unknown")"))
            if sidecar.pendingFormat != nil { archivist.orders.post(.convert(name)) }
            if let failure { tell(failure, now: now) }
            close(take, .success(status), now: now)
        case .failed(let message, let isDiskFull):
            hasLeftovers = true
            if let name = take.name { abandoned[name] = isDiskFull ? .diskFull : .storageError }
            tell(Fault(isDiskFull ? .diskFull : .storageFailing, "record: \(message)"), now: now)
            close(take, .failure(Refusal(.io, "record: \(message)")), now: now)
        }
    }

    private func close(_ take: OpenTake, _ result: Result<Status, Refusal>, now: Instant) {
        phase = .idle
        lastSync = nil
        archivist.orders.post(.giveWay(false))
        if isDatingDue { dateTakes() }
        isDatingDue = false
        if !options.isListening && take.waiting.isEmpty { disarm() }
        // A card that came back while the take ended was of no use to it.
        if input == nil { nextTick = now }
        checkStorage()
        let outcome: Result<Status, Refusal>
        switch result {
        case .success:
            var final = status
            final.take = take.name?.stem
            outcome = .success(final)
        case .failure: outcome = result
        }
        for completion in take.whenBegun + take.whenFinished { completion(outcome) }
        // In the order they came; those after the next stop wait for its take in turn.
        for waiting in take.waiting { waiting.work() }
        if !options.isListening, case .idle = phase { disarm() }
    }

    /// Tells why a take ended early, for long enough to be seen: a full disk shows by what is free, except where a quota or a
    /// file system knows better, and storage that failed once may take what comes next.
    private func tell(_ fault: Fault, now: Instant) {
        if fault.code == .storageFailing { isStorageSuspect = true }
        raise(fault, until: now + Self.endShown)
    }

    func raise(_ fault: Fault, until: Instant? = nil) {
        if faults.raise(fault, until: until) {
            report(Report(fault.code == .clockUnset ? .notice : .error, fault.message))
        }
    }
}
