import Panel
import Recording
import Ring
import TakeFiles
public import Takes
import Transport
import Workers

// What the deck does without being asked: keeping the card open, and checking signal, storage and clock.
extension Deck {
    /// Does what is due.
    /// - Returns: when it is to be called again at the latest.
    public func turn(now: Instant) -> Instant {
        collect()
        carryOut(card.tick(now: now))
        if case .leaving = stick.state { checkStick() }
        decide(.tick)
        settleCard(now: now)
        settleSearch(now: now)
        settleBurden()
        if pairing.settle(at: now) { onChange() }
        if now >= nextCheck {
            nextCheck = now + Self.checkInterval
            check(now: now)
        }
        updateFaults()
        settleMonitor()
        let deadlines = [
            card.deadline(now: now), transport.nextDeadline, faults.nextExpiry, pairing.end, nextCheck, now + Self.tick,
        ]
        return deadlines.compactMap(\.self).min() ?? nextCheck
    }

    /// Scans for cards at once: one may have been plugged in.
    public func rescan() {
        let now = clock.now()
        probe = .due
        look()
        carryOut(card.cardsChanged(now: now))
        nextCheck = now
        onChange()
    }

    /// Opens the card where it is needed, and closes it where it is not.
    func settleCard(now: Instant) {
        switch transport.cardNeed {
        case .closed: carryOut(card.release())
        case .unchanged: break
        case .open: carryOut(card.need(now: now))
        case .standby:
            if options.isListening || probe == .due {
                probe = .done
                carryOut(card.need(now: now))
            } else if card.isListening {
                // One that delivers nothing stays open, and its fault with it, until it does.
                carryOut(card.release())
            }
        }
    }

    /// Holds the archivist's work back while the take that is recorded waits for the storage.
    private func settleBurden() {
        let heldShare = isRecording ? card.open?.ring.heldShare ?? 0 : 0
        let burden = heldShare > Self.leastHeldShare ? Burden.held : .allowed
        guard burden != self.burden else { return }
        self.burden = burden
        workers.archivist.post(.hold(burden == .held))
    }

    private func check(now: Instant) {
        checkStick()
        recovery.tick(now: now, in: storage.path)
        carryOut(storage.ask(now: now))
        if case .playing = transport.phase {
            // What the kit plays itself says nothing about its microphones.
            input?.passOver()
        } else if let input, input.judge(now: now) {
            workers.card.post(.readGain)
        }
        input?.judgeRate()
        // After the end of a take, frames may overflow the ring: nobody records them.
        showLosses(areMissedWanted: !transport.endsAlone)
        onChange()
    }

    /// Shows what was lost of the card's sound.
    func showLosses(areMissedWanted: Bool) {
        guard let fault = input?.newLosses(areMissedWanted: areMissedWanted) else { return }
        faults.show(fault, until: clock.now() + InputWatch.overloadShown)
    }

    // MARK: Faults

    /// Takes over faults that others report, and announces them.
    func showFaults() {
        updateFaults()
        onChange()
    }

    /// Takes over what the states of the kit say, and reports what is news.
    func updateFaults() {
        let now = clock.now()
        var current: [Fault] = panelFaults
        if let fault = card.fault(now: now) { current.append(fault) }
        stall.update(hasSound: recordsSound, lastSync: progress?.lastSync, now: now)
        current += storageTroubles(now: now)
        if options.reportsVolatileStorage, let volatility = storage.directory?.kind.volatility(at: storage.path) {
            current.append(Fault(.storageFailing, "storage: \(volatility)", about: .volatileStorage))
        }
        if let damagedTakes { current.append(Fault(.storageFailing, damagedTakes, about: .damagedTakes)) }
        if clockOrigin == .unset { current.append(.clockUnset) }
        if let fault = input?.designFault { current.append(fault) }
        if let fault = input?.rateFault { current.append(fault) }
        current += signalFaults(now: now)
        if case .refused(let message) = upload { current.append(Fault(.uploadRefused, message)) }
        let before = faults.list
        for fault in faults.update(now, current) {
            report(Report(fault.code == .clockUnset ? .notice : .error, fault.message))
        }
        if faults.list != before { onEvent(.faults(faults.list)) }
    }

    /// Faults that usually have one cause: the first of each kind stands for the others.
    private func storageTroubles(now: Instant) -> [Fault] {
        let lack = storage.freeBytes.flatMap { options.lackOfSpace(in: storage.path, $0, likelyFormat) }
        let all = [
            storage.failure(now: now), stall.fault(promise: options.syncPromise, now: now), progress?.trouble,
            recovery.fault, lack,
        ]
        return all.compactMap(\.self).reduce(into: []) { first, fault in
            if !first.contains(where: { $0.code == fault.code }) { first.append(fault) }
        }
    }

    private func signalFaults(now: Instant) -> [Fault] {
        if case .playing = transport.phase { return [] }
        let past = PastWords(now: now) { [self] in clockOrigin == .unset ? nil : clock.offset() }
        return input?.signalFaults(now: now, past) ?? []
    }

    /// What a take would be of: what the card delivers, or, without a card, what many do.
    var likelyFormat: StreamFormat {
        input?.ring.format ?? StreamFormat(rateHz: 48000, channels: 2, sampleFormat: .s16)
    }

    // MARK: The date

    /// The date was set, or it became known where it comes from: the takes of this boot are dated by it, and the fault is
    /// judged again.
    public func clockChanged() {
        nextCheck = clock.now()
        // A take that was stopped just now may go on.
        workers.writer.post(.date(trueStart))
        if case .recording = transport.phase {
            // It may be too late for that.
            dateSetAt = clock.now()
        }
        dateTakes()
    }

    func dateTakes() {
        workers.archivist.post(.date(trueStart, kit: options.kit))
    }

    /// By what the takes of this boot are dated now.
    private var trueStart: TrueStart {
        TrueStart(bootID: options.bootID, offset: clock.offset(), origin: clockOrigin)
    }

    /// Where the date comes from.
    public var clockOrigin: ClockOrigin { originOfClock(selection.takes.last { $0.day != TakeName.unsetDay }?.day) }

    /// The folder of a take that would begin now.
    var dayOfNextTake: String {
        TakeName.day(of: clockOrigin == .unset ? nil : clock.wallTime(), options.nameTime)
    }
}
