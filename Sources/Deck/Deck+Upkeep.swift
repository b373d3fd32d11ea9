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
        if now >= nextTick {
            nextTick = now + Self.tick
            check(now: now)
        }
        faults.expire(at: now)
        return min(nextTick, faults.nextExpiry ?? nextTick)
    }

    /// Takes note that the capture may have ended by itself.
    public func hearCard() {
        if let end = card.end { loseCard(end, now: clock.now()) }
    }

    /// Looks for cards at once: one may have come.
    public func rescan() {
        wasProbed = false
        nextTick = clock.now()
    }

    private func check(now: Instant) {
        openDirectory()
        if let end = restsUntil, now < end { return }
        restsUntil = nil
        if isCardLent {
            // It is armed again when it has played.
        } else if options.isListening {
            arm(now: now)
        } else if !wasProbed, case .idle = phase {
            arm(now: now)
            wasProbed = input != nil
        }
        if !options.isListening, case .idle = phase { disarm() }
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
            let grant = try card.open(options.capture)
            let ring = Ring(
                format: grant.format, holding: Self.ringDuration + options.preRoll, periodFrames: grant.periodFrames)
            try card.start(into: ring)
            input = OpenInput(
                grant: grant, ring: ring, filter: design(for: grant.format.rateHz),
                signal: SignalWatch(channels: grant.format.channels))
            lossesSeen = 0
            faults.clear(.noCard)
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
        } catch {
            card.stop()
            raise(Fault(.noCard, "\(error)"))
        }
    }

    /// How long a storage may stall before frames are lost.
    static let ringDuration = Duration.seconds(30)

    func disarm() {
        card.stop()
        input = nil
        faults.clear(.signal)
    }

    /// The card ended by itself: the take ends with what was heard, and the card is looked for again.
    func loseCard(_ end: CaptureEnd, now: Instant) {
        let message: String
        switch end {
        case .cardLost(let text), .failed(let text): message = text
        }
        raise(Fault(.noCard, message))
        // What it delivered stays in the ring; the end is told but once.
        card.stop()
        switch phase {
        case .recording:
            input?.isLost = true
            endTake(at: nil, because: .cardLost) { _ in }
        case .idle, .playing: disarm()
        }
        onChange()
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

    // MARK: What a technician should know of

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
        let losses = input.ring.xrunCount + Int(input.ring.droppedFrames)
        if losses > lossesSeen {
            lossesSeen = losses
            let dropped = input.ring.droppedFrames
            raise(
                Fault(
                    .overload,
                    "capture: \(input.grant.card): frames were lost: \(input.ring.xrunCount) overruns of the card, "
                        + "\(dropped) frames dropped while the storage stalled"),
                until: now + Self.overloadShown)
        }
    }

    func openDirectory() {
        guard directory == nil else { return }
        do {
            let opened = try TakesDirectory(path: options.directory, files: files)
            selection = Selection(takes: try opened.takes())
            directory = opened
            faults.clear(.storageFailing)
        } catch {
            raise(Fault(.storageFailing, "storage: \(error)"))
        }
    }

    func checkStorage() {
        guard let directory else { return }
        do {
            let free = try directory.freeBytes()
            freeBytes = free
            if isStorageUnreadable {
                isStorageUnreadable = false
                faults.clear(.storageFailing)
            }
            let format = input?.ring.format ?? StreamFormat(rateHz: 48000, channels: 2, sampleFormat: .s16)
            if let fault = StorageWatch.fault(
                directory: options.directory, freeBytes: free, reserveBytes: options.reserveBytes, format: format,
                isTwinKept: options.keepsUnfiltered)
            {
                raise(fault)
            } else {
                faults.clear(.diskFull)
            }
        } catch {
            isStorageUnreadable = true
            raise(Fault(.storageFailing, "storage: \(error)"))
        }
    }

    private func checkClock() {
        switch originOfClock(selection.takes.last?.day) {
        case .ntp, .rtc, .manual: faults.clear(.clockUnset)
        case .unset:
            raise(Fault(.clockUnset, "clock: not set in this boot: dates of takes are not to be trusted"))
        }
    }
}
