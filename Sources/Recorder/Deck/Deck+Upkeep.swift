import Panel
import Recording
import Ring
import TakeFiles
public import Takes
import Transport
public import Workers

// The deck's periodic work: keeping the card open, and checking signal, storage and clock.
extension Deck: LoopPart {
    public func turn(now: Instant) -> Instant? {
        collect()
        carryOut(card.tick(now: now))
        if case .leaving = stick.state { checkStick() }
        decide(.tick)
        settleCard(now: now)
        settleSearch(now: now)
        settleBurden()
        if pairing.settle(at: now) { announce(.changed) }
        if now >= nextCheck {
            nextCheck = now + Self.checkInterval
            check(now: now)
        }
        updateFaults()
        settleMonitor()
        let deadlines = [
            card.deadline(now: now), transport.nextDeadline, faults.nextExpiry, pairing.end, nextCheck, now + Self.tick,
        ]
        return deadlines.compactMap(\.self).min()
    }

    /// Scans for cards at once, after one may have been plugged in.
    public func rescan() {
        let now = clock.now()
        probe = .due
        look()
        carryOut(card.cardsChanged(now: now))
        nextCheck = now
        announce(.changed)
    }

    /// Opens the card if it is needed, and closes it otherwise.
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
                // A card that delivers nothing stays open until it delivers, so that its fault stays visible.
                carryOut(card.release())
            }
        }
    }

    /// Holds heavy writing by the archivist back while the recorded take waits for the storage.
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
            // The kit's own playback says nothing about its microphones.
            input?.passOver()
        } else if let input, input.judge(now: now) {
            workers.card.post(.readGain)
        }
        input?.judgeRate()
        // After the end of a take, frames may overflow the ring, because no take needs them.
        showLosses(areMissedWanted: !transport.endsAlone)
        announce(.changed)
    }

    /// Shows losses of the card's sound as a fault.
    func showLosses(areMissedWanted: Bool) {
        guard let fault = input?.newLosses(areMissedWanted: areMissedWanted) else { return }
        faults.show(fault, until: clock.now() + InputWatch.overloadShown)
    }

    // MARK: Faults

    func showFaults() {
        updateFaults()
        announce(.changed)
    }

    /// Collects the current faults from all states, and reports the new ones.
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
        if faults.list != before { announce(.happened(.faults(faults.list))) }
    }

    /// These faults usually have one cause, so only the first of each kind is shown.
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

    /// The format of a take that would begin now: that of the card, or without a card a common one.
    var likelyFormat: StreamFormat {
        input?.ring.format ?? StreamFormat(rateHz: 48000, channels: 2, sampleFormat: .s16)
    }

    // MARK: The date

    /// Called when the date was set, or when its source became known. The takes of this boot are dated, and the clock
    /// fault is updated.
    public func clockChanged() {
        nextCheck = clock.now()
        // A take that was stopped just now may be continued.
        workers.writer.post(.date(trueStart))
        if case .recording = transport.phase {
            // The writer may get the date too late for this take.
            recorded?.date = .set
        }
        dateTakes()
    }

    func dateTakes() {
        workers.archivist.post(.date(trueStart, kit: options.kit))
    }

    /// The date for the takes of this boot.
    private var trueStart: TrueStart {
        TrueStart(bootID: options.bootID, offset: clock.offset(), origin: clockOrigin)
    }

    public var clockOrigin: ClockOrigin { originOfClock(selection.takes.last { $0.day != TakeName.unsetDay }?.day) }

    /// The folder of a take that would begin now.
    var dayOfNextTake: String {
        TakeName.day(of: clockOrigin == .unset ? nil : clock.wallTime(), options.nameTime)
    }
}
