import Files
import Panel
import Recording
import TakeFiles
import Takes
import Transport
import Workers

// The stick that takes are kept on: insertion, removal and eject.
extension Deck {
    /// Orders the folder for takes to be opened: on the stick, if one may be used, or elsewhere.
    func openStorage(mustBeOwn: Bool) {
        let isOptional = options.stick?.isOptional ?? true
        // If takes were kept on a stick, that says nothing about the folder elsewhere, so own storage is not required.
        workers.storage.post(
            .open(
                stick: stick.mayOpen ? options.stick : nil, path: isOptional ? options.directory : nil,
                mustBeOwn: mustBeOwn && options.stick == nil, recorded: isRecording ? storage.path : nil))
    }

    /// The folder for takes is open.
    /// - Parameter unusedStick: why the inserted stick is not used.
    func opened(_ directory: TakesDirectory, unusedStick: String?) {
        guard let asked = options.stick else { return }
        stick.opened(onStick: directory.path == asked.folder)
        report(Report(.notice, "storage: takes are kept in \(directory.path)"))
        guard let unusedStick else { return }
        let message = "\(unusedStick): takes are kept in \(directory.path) instead of on the stick"
        faults.show(Fault(.storageFailing, message), until: clock.now() + FaultBoard.endShown)
    }

    func adoptStickByButtons() {
        guard upload == .stickOffered else {
            return refuse(
                Refusal(.notFound, "stick: stop and play were held, and no unknown stick is in"))
        }
        report(Report(.notice, "stick: stop and play were held: takes will be sent to the inserted stick"))
        announce(.wish(.adoptStick))
    }

    func checkStick() {
        guard let stick = options.stick else { return }
        workers.storage.post(.findStick(stick, leastBytes: options.comfortBytes(likelyFormat)))
    }

    /// Handles the mounted stick that a check found.
    func note(_ mounted: FileIdentity?, hasRoom: Bool) {
        switch stick.found(mounted, hasRoom: hasRoom, isFree: transport.isFree, now: clock.now()) {
        case nil: break
        case .change: changeStorage()
        case .released(let asker):
            report(Report(.notice, "eject: the stick may be pulled"))
            reply(asker, .success(status))
        case .eject(let asker):
            do throws(Refusal) {
                try eject(asker)
            } catch {
                reply(asker, .failure(error))
            }
        case .kept(let asker):
            let seconds = StickState.patience.components.seconds
            let refusal = Refusal(.stickNotUnmounted(seconds: Int(seconds)))
            report(Report(.error, refusal.message))
            reply(asker, .failure(refusal))
        }
    }

    private func changeStorage() {
        guard storage.directory != nil else { return carryOut(storage.ask(now: clock.now())) }
        _ = storage.leave()
        closeDirectory()
        carryOut(storage.ask(now: clock.now()))
    }

    /// Leaves a stick that is full or accepts no files, and uses the internal folder. The stick is used again when it
    /// has room for more than a moment, or once another is mounted.
    func leaveUselessStick() {
        guard stick.state == .inUse, options.stick?.isOptional == true, transport.isFree else { return }
        let fault: Fault
        switch storage.state {
        case .absent, .ok: return
        case .full, .unreadable, .suspect:
            guard let obstacle = storage.obstacle(now: clock.now()) else { return }
            fault = obstacle
        }
        if fault.code == .diskFull { stick.fill() } else { stick.fail() }
        changeStorage()
        showStickLeft(fault)
    }

    private func showStickLeft(_ fault: Fault) {
        // The current faults belong to the stick, which is not used any more.
        updateFaults()
        let message = "\(fault.message): takes are kept in \(options.directory) instead of on the stick"
        faults.show(Fault(fault.code, message), until: clock.now() + FaultBoard.endShown)
        updateFaults()
    }

    // MARK: A take whose stick was pulled

    /// The time and the card opening from which a take must continue elsewhere after its stick failed, or nil if it
    /// must not continue.
    var restForInside: (since: Instant, opening: OpenCard, take: RecordedTake)? {
        guard let recorded, recorded.folder == options.stick?.folder, options.stick?.isOptional == true,
            case .recording(let take) = transport.phase, take.stage == .running
        else { return nil }
        // Frames are located by their times, whose error is much smaller than this.
        let since = progress.map { $0.safeUntil - .milliseconds(10) } ?? take.since
        return card.opening(at: since).map { (since, $0, recorded) }
    }

    /// Continues in a separate take elsewhere, from the first frame that is not safe on the stick. That take waits for
    /// the card if it is away.
    func goOnInside(_ rest: (since: Instant, opening: OpenCard, take: RecordedTake)?, isStickFull: Bool) {
        guard let rest else { return }
        // If the stick was pulled while the card was away, the deck has already left it.
        let isOpen = storage.directory?.path == rest.take.folder
        if isOpen {
            if isStickFull { stick.fill() } else { stick.fail() }
            changeStorage()
        }
        let event = isStickFull ? "is full" : "failed"
        let folder = storage.directory?.path ?? options.directory
        report(Report(.warning, "record: the stick \(event): the sound goes on in a take in \(folder)"))
        if isStickFull, isOpen { showStickLeft(Fault(.diskFull, "storage: \(options.stick?.folder ?? ""): full")) }
        card.expect(rest.opening.grant)
        changed = [rest.opening]
        decide(.goOn(at: rest.since, startedBy: rest.take.initiator))
    }

    // MARK: Eject

    func ejectByButton() {
        guard options.stick != nil else { return }
        let asker = asker { [unowned self] result in
            if case .failure(let refusal) = result { refuse(refusal) }
        }
        do throws(Refusal) {
            try eject(asker)
        } catch {
            reply(asker, .failure(error))
        }
    }

    /// Closes the stick's folder and has it unmounted. The asker is answered when the stick may be pulled.
    func eject(_ asker: Asker) throws(Refusal) {
        guard options.stick != nil else {
            throw Refusal(.notOnStick)
        }
        guard transport.isFree else { throw Refusal(.takeInUse) }
        switch stick.state {
        case .released:
            stick.confirm(asker)
            return checkStick()
        case .away: throw Refusal(.noStick)
        case .leaving, .confirming: throw Refusal(.stickUnmounting)
        case .ready, .inUse, .failed, .full: break
        }
        stick.leave(now: clock.now(), asker)
        changeStorage()
        announce(.eject)
    }
}
