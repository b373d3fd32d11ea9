import Files
import Filters
import Glibc
import Ring
import TakeFiles
package import Takes
import Transport
package import Workers

/// The worker that makes takes from the ring's sound.
package typealias WriterWorker = Worker<WriterOrder, WriterOutcome>

extension WriterWorker {
    /// A writer that has no thread yet.
    /// - Parameter sync: the worker that runs its syncs.
    package convenience init(writesBy clock: any Clock, sync: SyncWorker) {
        let writer = Writer(clock: clock, sync: sync)
        self.init(clock: clock) { orders, now, outcomes in
            writer.turn(orders, now, outcomes)
        }
    }
}

/// Makes takes from the ring's sound, as the deck orders. Only one thread at a time may call `turn`.
final class Writer {
    private let clock: any Clock
    private var sync: SyncQueue
    private var state = State.idle
    private var lastSync: Instant?
    /// The origin of the date, as far as it is known since the take began.
    private var clockOrigin = ClockOrigin.unset
    /// The calendar's offset when it was last read.
    private var calendar: ClockOffset?
    private var outcomes = Mailbox<WriterOutcome>()

    private enum State {
        case idle
        case recording(RunningTake, SyncSchedule)
        /// The take is finished, and its sound continues.
        case tail(RunningTake, SyncSchedule)
    }

    /// How often the ring is emptied.
    static let pumpInterval = Duration.milliseconds(200)
    /// How often the ring is emptied while the last frames of a take have not arrived.
    static let endInterval = Duration.milliseconds(20)

    init(clock: any Clock, sync: SyncWorker) {
        self.clock = clock
        self.sync = SyncQueue(sync)
    }

    /// Carries out orders, or does what is due.
    /// - Returns: the deadline for the next call, or nil to wait for an order.
    func turn(_ orders: [WriterOrder], _ now: Instant, _ outcomes: Mailbox<WriterOutcome>) -> Instant? {
        self.outcomes = outcomes
        for order in orders { carryOut(order, now: now) }
        // An order may take as long as the storage does. Handle new orders before reading more frames.
        guard orders.isEmpty else { return now }
        switch state {
        case .idle: return nil
        case .recording(let take, var schedule):
            do {
                try record(take, &schedule, now: now)
            } catch {
                fail(take, error)
            }
        case .tail(let take, var schedule):
            do {
                try writeTail(take, &schedule, now: now)
            } catch {
                endTail(take, .storageFailed("\(error)"))
            }
        }
        return nextTurn(now: now)
    }

    private func nextTurn(now: Instant) -> Instant? {
        switch state {
        case .idle: nil
        case .recording(let take, let schedule), .tail(let take, let schedule):
            min(
                now + (take.ends.isEmpty ? Self.pumpInterval : Self.endInterval),
                schedule.next > now ? schedule.next : now + Self.pumpInterval)
        }
    }

    private func carryOut(_ order: WriterOrder, now: Instant) {
        switch (order, state) {
        case (.begin(let order), _): begin(order, now: now)
        case (.rejoin, .tail(let take, let schedule)): rejoin(take, schedule)
        case (.dropTail, .tail(let take, _)): endTail(take, .dropped)
        case (.suspend, .tail(let take, _)): endTail(take, .givenUp("the card is gone"))
        case (.suspend, .recording(let take, let schedule)): suspend(take, schedule, now: now)
        case (.mark(let mark), .recording(let take, _)): take.mark(mark)
        case (.filter(let design), .recording(let take, _)), (.filter(let design), .tail(let take, _)):
            take.change(to: design)
        case (.gain(let gain, let instant), .recording(let take, _)),
            (.gain(let gain, let instant), .tail(let take, _)):
            take.change(to: gain, at: instant)
        case (.resume(let order), .recording(let take, _)): take.resume(order)
        case (.date(let truth), .recording(let take, _)), (.date(let truth), .tail(let take, _)):
            clockOrigin = truth.origin
            calendar = truth.offset
            take.date(by: truth)
        case (.end(let instant, let ending, let keepsTail), .recording(let take, _)):
            take.end(.stop(at: instant, ending, keepsTail: keepsTail))
        case (.hurry, .recording(let take, _)): take.hurry(now: now)
        case (.next(let instant, let wall), .recording(let take, _)): take.end(.next(at: instant, wall: wall))
        case (_, .idle), (_, .tail), (.rejoin, _), (.dropTail, _): break
        }
    }
}

extension Writer {
    /// The calendar's offset, or nil if the calendar was not set. Until the calendar is set again, the offset is the
    /// same for all points of a clock map; two separate readings would differ.
    private func currentCalendar() -> ClockOffset? {
        guard clockOrigin != .unset else { return nil }
        let now = clock.offset()
        if let calendar, calendar.distance(to: now) < ClockRecord.jitter { return calendar }
        calendar = now
        return now
    }
}

// MARK: - The beginning

extension Writer {
    private func begin(_ order: BeginOrder, now: Instant) {
        switch state {
        case .idle: break
        case .tail(let take, _): endTail(take, .dropped)
        case .recording: preconditionFailure("one take at a time")
        }
        let started = order.pressed - order.preRoll
        let position = order.ring.position
        let earliest = order.ring.framePosition(at: started - .seconds(1)) ?? .start
        // A card that was opened just now may have no stamp yet. Stamps of the previous opening would point past the
        // data.
        let reader = RingReader(
            holding: order.ring, from: max(min(earliest, position), order.opened),
            sparingBefore: order.ring.framePosition(at: order.pressed) ?? .start)
        do {
            // The storage was last checked up to two seconds ago.
            try order.plan.directory.checkInPlace()
            try order.plan.directory.checkWritable()
            guard !isFull(order.plan) else {
                return outcomes.post(.failed("the disk is full down to its reserve: free some space", isDiskFull: true))
            }
            let output = try open(
                order.plan, order.plan.grant.place, format: order.ring.format, filter: order.filter,
                preRoll: order.preRoll, started: started,
                wall: order.pressedWall - order.preRoll)
            clockOrigin = order.plan.clock
            let take = RunningTake(order, reader: reader, output: output) { [unowned self] in currentCalendar() }
            var schedule = schedule(order.plan, start: order.pressed)
            // Frames sampled before the press are made safe as soon as they are written.
            if order.preRoll > .zero { schedule.hurry(now) }
            lastSync = nil
            state = .recording(take, schedule)
            outcomes.post(.began(take.name))
            outcomes.postQuietly(.progress(take.progress(lastSync: nil)))
        } catch {
            outcomes.post(.failed("\(error)", isDiskFull: error.isDiskFull))
        }
    }

    private func open(
        _ plan: TakePlan, _ card: CardPlace, format: StreamFormat, filter: FilterDesign, preRoll: Duration,
        started: Instant,
        wall: WallTime
    ) throws(FileError) -> TakeOutput {
        let name = try plan.directory.nextTake(
            kit: plan.kit, started: plan.clock == .unset ? nil : wall, nameTime: plan.nameTime)
        if let failure = plan.directory.newMarkFailure() { outcomes.post(.warned(failure)) }
        var sidecar = Sidecar(
            name: name, started: wall, startedMonotonic: started, bootID: plan.bootID, clock: plan.clock,
            card: card.card, format: format, preRollFrames: format.frames(in: preRoll),
            gainDB: plan.grant.gain.gainDB, agc: plan.grant.gain.agc, version: plan.version)
        sidecar.kitID = plan.directory.kitID()
        sidecar.channelsOfCard = plan.grant.layout.ofCard
        sidecar.pendingFormat = plan.pendingFormat
        sidecar.startedBy = plan.startedBy
        sidecar.filter = [Sidecar.FilterChange(filter, atFrame: .first)]
        let output = try TakeOutput(
            in: plan.directory, name: name, sidecar: sidecar, started: wall, format: format, card: card,
            keepsUnfiltered: plan.keepsUnfiltered, splitBytes: plan.splitBytes,
            hasFingerprint: plan.hasFingerprint, nameTime: plan.nameTime)
        output.leastFreeBytes = leastBytes(plan)
        return output
    }

    private func schedule(_ plan: TakePlan, start: Instant) -> SyncSchedule {
        SyncSchedule(
            promise: plan.syncPromise, period: plan.grant.format.duration(ofFrames: Int64(plan.grant.periodFrames)),
            lag: plan.lag, files: plan.keepsUnfiltered ? 2 : 1, start: start)
    }
}

// MARK: - The take

extension Writer {
    private func record(_ take: RunningTake, _ schedule: inout SyncSchedule, now: Instant) throws {
        var synced = false
        for outcome in sync.outcomes() {
            try take.synced(outcome)
            synced = true
        }
        if synced { lastSync = now }
        try take.pump(now: now)
        let progress = WriterOutcome.progress(take.progress(lastSync: lastSync))
        if synced { outcomes.post(progress) } else { outcomes.postQuietly(progress) }
        reportNews(of: take)
        if take.isComplete {
            guard take.awaitsRescue(now: now) else { return try end(take, schedule, now: now) }
            if !sync.isBusy { sync.start(try take.syncPoint()) }
            return state = .recording(take, schedule)
        }
        // While the card is away, there may be nothing to sync.
        if schedule.isDue(at: now), !sync.isBusy, !take.isSynced {
            try checkWritable(take.plan)
            if take.ends.isEmpty, isFull(take.plan) { take.end(.stop(at: nil, .diskFull, keepsTail: false)) }
            sync.start(try take.syncPoint())
            schedule.started(at: now, unsyncedSince: take.unsyncedSince)
        }
        state = .recording(take, schedule)
    }

    /// A file system that was forced read-only reports that all is synced. Other reasons that prevent new files do not
    /// end a take.
    private func checkWritable(_ plan: TakePlan) throws {
        do {
            try plan.directory.checkWritable()
        } catch {
            guard error.code != EROFS else { throw error }
        }
    }

    private func isFull(_ plan: TakePlan) -> Bool {
        let least = leastBytes(plan)
        return (try? plan.directory.freeBytes()).map { $0 < least } ?? false
    }

    /// A take ends when less than this is free.
    private func leastBytes(_ plan: TakePlan) -> Int64 {
        StorageWatch.least(
            reserveBytes: plan.reserveBytes, format: plan.grant.format, isTwinKept: plan.keepsUnfiltered)
    }

    /// Reports what other programs did to the take's files.
    private func reportNews(of take: RunningTake) {
        for news in take.output.newNews() {
            switch news {
            case .trouble(let sentence): outcomes.post(.troubled(Fault(.storageFailing, "record: \(sentence)")))
            case .relief(let sentence): outcomes.post(.warned(sentence))
            }
        }
    }

    private func suspend(_ take: RunningTake, _ schedule: SyncSchedule, now: Instant) {
        do {
            try take.suspend()
            var schedule = schedule
            // The part is synced at once, because the card may be away for long.
            schedule.hurry(now)
            state = .recording(take, schedule)
        } catch {
            fail(take, error)
        }
    }

    /// Called when the last frame of the take is written.
    private func end(_ take: RunningTake, _ schedule: SyncSchedule, now: Instant) throws {
        var following: (TakeOutput, Instant, WallTime)?
        // If the sync of the finished take failed, no files of another take are made.
        try settleSync(take)
        if case .next(let instant, let wall)? = take.ends.first, let running = take.running {
            do {
                following = (try open(after: take, running, at: instant, wall: wall), instant, wall)
            } catch {
                // The current take continues.
                let fault = Fault(
                    error.isDiskFull ? .diskFull : .storageFailing,
                    "record: \(error): \(take.name.stem) goes on, instead of another take")
                outcomes.post(.troubled(fault))
                try take.dropCuts()
                return state = .recording(take, schedule)
            }
        }
        if let (output, instant, wall) = following { return try cut(take, output, at: instant, wall: wall) }
        let sidecar = try take.finish()
        reportNews(of: take)
        reportPeaks(take)
        if case .next? = take.ends.first {
            state = .idle
            return outcomes.post(.finished(take.name, sidecar, failure: nil, hasTail: false))
        }
        var failure: Fault?
        if sidecar.endedBy == .diskFull {
            failure = Fault(.diskFull, "record: the disk is full down to its reserve: free some space")
            // The next take may be recorded elsewhere.
            outcomes.post(.progress(take.finalProgress(lastSync: lastSync)))
        }
        state = .idle
        guard take.canHaveTail, !isFull(take.plan) else {
            take.close()
            return outcomes.post(.finished(take.name, sidecar, failure: failure, hasTail: false))
        }
        outcomes.post(.finished(take.name, sidecar, failure: failure, hasTail: true))
        do {
            try take.beginTail()
            state = .tail(take, schedule)
        } catch {
            endTail(take, .storageFailed("\(error)"))
        }
    }

    /// Makes the files of the take that continues with the frame after another take's last.
    private func open(
        after take: RunningTake, _ running: (filter: FilterDesign, format: StreamFormat), at instant: Instant,
        wall: WallTime
    ) throws(FileError) -> TakeOutput {
        var plan = take.plan
        plan.clock = clockOrigin
        (plan.grant.gain.gainDB, plan.grant.gain.agc) = take.sidecar.lastGain
        return try open(
            plan, take.output.card ?? plan.grant.place, format: running.format, filter: running.filter, preRoll: .zero,
            started: instant, wall: wall)
    }

    /// Switches to the take that continues with the next frame. If the previous take cannot be finished, it is left for
    /// recovery.
    private func cut(_ take: RunningTake, _ output: TakeOutput, at instant: Instant, wall: WallTime) throws {
        var failure: (any Error)?
        let finished: Sidecar
        do {
            finished = try take.finish()
        } catch {
            failure = take.abandon().isFinished ? nil : error
            finished = take.sidecar
        }
        reportNews(of: take)
        reportPeaks(take)
        state = .idle
        do {
            guard let next = try take.next(output, started: instant, wall: wall) else { return }
            lastSync = nil
            state = .recording(next, schedule(take.plan, start: instant))
            guard let failure else {
                return outcomes.post(.next(finished: take.name, finished, began: next.name))
            }
            let isDiskFull = (failure as? FileError)?.isDiskFull ?? false
            outcomes.post(
                .leftBehind(
                    take.name, Fault(isDiskFull ? .diskFull : .storageFailing, "record: \(failure)"),
                    began: next.name))
        } catch {
            take.close()
            let isDiskFull = ((failure ?? error) as? FileError)?.isDiskFull ?? false
            if let failure { return outcomes.post(.failed("\(failure)", isDiskFull: isDiskFull)) }
            let fault = Fault(isDiskFull ? .diskFull : .storageFailing, "record: \(error)")
            outcomes.post(.finished(take.name, finished, failure: fault, hasTail: false))
        }
    }

    /// Ends the take with the sound that is safe, after the storage failed.
    private func fail(_ take: RunningTake, _ error: any Error) {
        for outcome in sync.settle() { try? take.synced(outcome) }
        let isDiskFull = (error as? FileError)?.isDiskFull ?? false
        take.fail(because: isDiskFull ? .diskFull : .storageError)
        let remains = take.abandon()
        reportNews(of: take)
        take.close()
        reportPeaks(take)
        state = .idle
        if remains.isFinished {
            let failure = Fault(isDiskFull ? .diskFull : .storageFailing, "record: \(error)")
            outcomes.post(.finished(take.name, take.sidecar, failure: failure, hasTail: false))
        } else {
            let message = remains.loss.map { "\($0): \(error)" } ?? "\(error)"
            outcomes.post(.failed(message, isDiskFull: isDiskFull))
        }
    }

    /// Reports once, at the take's end, that the waveform could not be written.
    private func reportPeaks(_ take: RunningTake) {
        guard let failure = take.peaksFailure else { return }
        outcomes.post(.warned("\(take.name.stem) will have no waveform: \(failure)"))
    }

    private func settleSync(_ take: RunningTake) throws {
        for outcome in sync.settle() { try take.synced(outcome) }
    }
}

// MARK: - The tail

extension Writer {
    private func writeTail(_ take: RunningTake, _ schedule: inout SyncSchedule, now: Instant) throws {
        for outcome in sync.outcomes() { try take.synced(outcome) }
        try take.pump(now: now)
        reportNews(of: take)
        if schedule.isDue(at: now), !sync.isBusy, !take.isSynced {
            try checkWritable(take.plan)
            if isFull(take.plan) { return endTail(take, .givenUp("the disk is full down to its reserve")) }
            sync.start(try take.syncPoint())
            schedule.started(at: now, unsyncedSince: take.unsyncedSince)
        }
        state = .tail(take, schedule)
    }

    private func rejoin(_ take: RunningTake, _ schedule: SyncSchedule) {
        do {
            try settleSync(take)
            try take.rejoin()
            reportNews(of: take)
            state = .recording(take, schedule)
            outcomes.post(.rejoined(take.name))
        } catch {
            endTail(take, .storageFailed("\(error)"))
        }
    }

    private func endTail(_ take: RunningTake, _ end: TailEnd) {
        // The result of the tail's sync does not matter any more.
        for outcome in sync.settle() { try? take.synced(outcome) }
        var end = end
        do {
            try take.dropTail()
        } catch {
            // The first failure is more informative than its consequences.
            if case .storageFailed = end {} else { end = .storageFailed("\(error)") }
        }
        take.close()
        state = .idle
        outcomes.post(.tailEnded(take.name, end))
    }
}

extension Sidecar.FilterChange {
    init(_ design: FilterDesign, atFrame frame: TakeFrame) {
        self.init(
            atFrame: frame, lowPassHz: design.lowPassHz, slopeDBPerOctave: design.slopeDBPerOctave,
            highPassHz: design.highPassHz)
    }
}
