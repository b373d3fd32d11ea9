import Filters
import Ring
import TakeFiles
public import Takes
import Transport

// What the deck does unasked: keeping a card armed, and watching signal, disk and clock.
extension Deck {
    /// Does what is due.
    /// - Returns: when it wants to be called again at the latest.
    public func turn(now: Instant) -> Instant {
        hearCard()
        hearFrames()
        if now >= nextTick {
            nextTick = now + Self.tick
            check(now: now)
        }
        // Storage that failed a take and does not even answer since is as bad as it was.
        faults.expire(at: now, except: isStorageSuspect ? .storageFailing : nil)
        return min(nextTick, faults.nextExpiry ?? nextTick, awaitsFrames ? now + Self.frameLook : nextTick)
    }

    /// Whether a card was opened that may be as silent as it was before: the fault is told until it is heard.
    private var awaitsFrames: Bool { input != nil && faults[.noCard] != nil }

    /// A card that had gone away or ceased to deliver is back once it is heard.
    private func hearFrames() {
        guard awaitsFrames, let input, input.ring.delivered > 0 else { return }
        isStalled = false
        faults.clear(.noCard)
        if case .recording(var take) = phase, let since = take.awaySince {
            take.awaySince = nil
            phase = .recording(take)
            let away = Report.seconds((clock.now() - since).inSeconds)
            report(
                Report(
                    .notice,
                    "record: \(take.name?.stem ?? "the take") goes on after \(away) at \(input.grant.format.summary)"))
        }
        onChange()
    }

    /// Takes note that the capture may have ended by itself.
    public func hearCard() {
        if input != nil, let end = card.end { loseCard(end, now: clock.now()) }
    }

    /// Looks for cards at once: one may have come.
    public func rescan() {
        wasProbed = false
        nextTick = clock.now()
    }

    private func check(now: Instant) {
        openDirectory()
        if case .recording = phase {} else { checkPlace() }
        if let end = restsUntil, now < end { return }
        restsUntil = nil
        if case .recording(let take) = phase, let since = take.awaySince {
            awaitCard(of: take, since: since, now: now)
        } else if isCardLent {
            // It is armed again when it has played.
        } else if options.isListening {
            arm(now: now)
        } else if !wasProbed, case .idle = phase {
            arm(now: now)
            wasProbed = input != nil
        }
        if !options.isListening, case .idle = phase { disarm() }
        checkDelivery(now: now)
        checkFrames()
        checkSignal(now: now)
        checkStorage()
        checkClock()
        onChange()
    }

    // MARK: The card

    /// Opens the card and starts to listen, unless it is open.
    func arm(now: Instant) {
        guard input == nil else { return }
        do {
            try open(options.capture, now: now)
        } catch {
            raise(Fault(.noCard, "\(error)"))
        }
    }

    private func open(_ request: CaptureRequest, now: Instant) throws {
        let ring: Ring
        let grant: CaptureGrant
        do {
            grant = try card.open(request)
            ring = Ring(
                format: grant.format, holding: Self.ringDuration + options.preRoll, periodFrames: grant.periodFrames)
            try card.start(into: ring)
        } catch {
            card.stop()
            // There is none to deliver anything.
            isStalled = false
            throw error
        }
        input = OpenInput(
            grant: grant, ring: ring, filter: design(for: grant.format.rateHz),
            signal: SignalWatch(channels: grant.format.channels),
            frames: FrameWatch(rateHz: grant.format.rateHz, driftPPM: knownDrift[grant.card]))
        lastArmed = now
        lossesSeen = 0
        missingFrames = 0
        var isAway = false
        if case .recording(let take) = phase { isAway = take.awaySince != nil }
        if !isAway, !isStalled { faults.clear(.noCard) }
        // A card that stalls is opened again and again.
        if !isStalled { tell(of: grant, ring, now: now) }
    }

    private func tell(of grant: CaptureGrant, _ ring: Ring, now: Instant) {
        let format = grant.format
        report(
            Report(
                .info,
                "capture: \(grant.card): \(grant.name): \(format.summary), period \(grant.periodFrames), "
                    + "buffer \(grant.bufferFrames), "
                    + "ring \(ring.duration.inSeconds) s in \(ring.byteCount >> 10) KiB"))
        let kept = SyncSchedule(
            promise: options.syncPromise, period: format.duration(ofFrames: Int64(grant.periodFrames)),
            lag: options.pressAge, files: options.keepsUnfiltered ? 2 : 1, start: now
        ).kept
        if kept > options.syncPromise {
            report(
                Report(
                    .warning,
                    "takes.sync_seconds: \(options.syncPromise.inSeconds) s cannot be kept with this card: up to "
                        + "\(kept.inSeconds) s are not on disk"))
        }
        for warning in grant.warnings { report(Report(.warning, warning)) }
    }

    /// How long a storage may stall before frames are lost.
    static let ringDuration = Duration.seconds(30)

    func disarm() {
        card.stop()
        if let input {
            deliveredBefore += input.ring.delivered
            if let drift = input.frames.clock.driftPPM { knownDrift[input.grant.card] = drift }
        }
        input = nil
        isStalled = false
        faults.clear(.signal)
    }

    /// The card ended by itself. It is opened again, at once unless that was just done; a take waits for it meanwhile.
    func loseCard(_ end: CaptureEnd, now: Instant) {
        let fault: Fault
        let isThere: Bool
        switch end {
        case .cardLost(let message): (fault, isThere) = (Fault(.noCard, message), false)
        case .failed(let message): (fault, isThere) = (Fault(.noCard, message), true)
        }
        raise(fault)
        // What it delivered stays in the ring; the end is told but once.
        disarm()
        isStalled = isThere
        if case .recording(var take) = phase, !take.isEnding {
            take.awaySince = take.awaySince ?? now
            phase = .recording(take)
        }
        if case .recording = phase { writer.orders.post(.suspend) }
        wasProbed = false
        if lastArmed.map({ now - $0 >= Self.tick }) ?? true {
            rescan()
            // The lamps are to tell it first: to open a card may take a while.
            nextTick = now + Self.frameLook
        }
        onChange()
    }

    /// Opens the card of a take again, which then goes on; ends it once that was long in vain.
    private func awaitCard(of take: OpenTake, since: Instant, now: Instant) {
        guard !take.isEnding else { return }
        if now - since >= Self.cardPatience {
            let minutes = Int(Self.cardPatience.inSeconds) / 60
            report(Report(.error, "record: \(take.grant.card): away for \(minutes) min: the take ends"))
            endTake(at: nil, because: .cardLost) { _ in }
            return
        }
        guard input == nil, let input = reopen(take.grant, now: now) else { return }
        writer.orders.post(.resume(ResumeOrder(ring: input.ring, filter: input.filter, frameWatch: input.frames)))
    }

    /// The card that is known by the same id, at the same rate if it still has it.
    private func reopen(_ grant: CaptureGrant, now: Instant) -> OpenInput? {
        var request = options.capture
        request.card = CardReference(grant.card) ?? request.card
        request.rateHz = grant.format.rateHz
        request.channels = grant.format.channels
        do {
            try open(request, now: now)
        } catch {
            // It may only be busy for a moment: another rate is for a card that goes on refusing this one.
            guard faults[.noCard]?.message == "\(error)" else {
                raise(Fault(.noCard, "\(error)"))
                return nil
            }
            request.rateHz = nil
            try? open(request, now: now)
        }
        return input
    }

    /// The filter for a rate. One that the rate cannot have is off, and fault 7 says so.
    private func design(for rateHz: Int) -> FilterDesign {
        do {
            let design = try FilterDesign(filter, rateHz: rateHz)
            faults.clear(.settings)
            return design
        } catch {
            raise(Fault(.settings, "\(error); the filter is off"))
            return .off(rateHz: rateHz)
        }
    }

    /// A card that is open and says nothing is not armed, whatever holds it up.
    private func checkDelivery(now: Instant) {
        guard let input, input.ring.delivered == 0, let lastArmed, now - lastArmed >= Self.tick else { return }
        raise(Fault(.noCard, "capture: \(input.grant.card): delivers nothing: unplug it and plug it in again"))
    }

    // MARK: What a technician should know of

    /// Learns how fast the card's crystal is. What it loses while nothing is recorded is of no matter.
    private func checkFrames() {
        guard let ring = input?.ring else { return }
        let missing = input?.frames.listen(to: ring) ?? 0
        if case .recording = phase { missingFrames += missing }
        guard let input, input.frames.clock.isOff, cardSaidOff != input.grant.card else { return }
        cardSaidOff = input.grant.card
        let ppm = Int((input.frames.clock.driftPPM ?? 0).rounded())
        report(
            Report(
                .warning,
                "capture: \(input.grant.card): its clock is off by \(ppm) ppm, where a crystal is by 200 at most: takes are "
                    + "as long as the card counts"))
    }

    private func checkSignal(now: Instant) {
        // What the kit plays itself says nothing about its microphones.
        if case .playing = phase { return faults.clear(.signal) }
        guard let ring = input?.ring else { return }
        if let silentSince, let position = ring.framePosition(at: silentSince) {
            input?.signal.passOver(upTo: position)
        }
        input?.signal.listen(to: ring, now: now)
        guard let input else { return }
        if let fault = input.signal.fault(now: now, card: input.grant.card) {
            raise(fault)
        } else {
            faults.clear(.signal)
        }
        let losses = input.ring.xrunCount + Int(input.ring.missedFrames + missingFrames)
        if losses > lossesSeen {
            lossesSeen = losses
            let counts = [
                (input.ring.xrunCount, "overruns of the card: the machine is too busy"),
                (Int(input.ring.missedFrames), "frames dropped while the storage stalled: it is too slow"),
                (Int(missingFrames), "frames that the card did not tell of: see its cable and its USB hub"),
            ]
            let causes = counts.filter { $0.0 > 0 }.map { "\($0.0) \($0.1)" }
            raise(
                Fault(
                    .overload,
                    "capture: \(input.grant.card): sound was lost: \(causes.joined(separator: "; "))"),
                until: now + Self.overloadShown)
        }
    }

    private func checkClock() {
        switch originOfClock(selection.takes.last?.day) {
        case .ntp, .rtc, .manual: faults.clear(.clockUnset)
        case .unset:
            raise(
                Fault(
                    .clockUnset,
                    "clock: not set in this boot, or nobody knows by whom: dates of takes are not to be trusted: connect a "
                        + "network, or tell the time with 'fieldfare clock set'"))
        }
    }
}
