import Filters
import Glibc
import Ring
import Synchronization
import TakeFiles
package import Takes
import Transport

/// Makes takes out of what the ring holds, as the deck orders. All of its work is done by `turn`, on one thread.
package final class Writer: @unchecked Sendable {
    package let orders = Mailbox<Order>()
    package let outcomes = Mailbox<Outcome>()
    private let clock: any Clock
    private let sync: any Syncing
    private let shared = Mutex<Progress?>(nil)

    // Of the writer's own thread.
    private var recording: Recording?
    private var schedule: SyncSchedule?
    private var directory: TakesDirectory?
    private var leastFreeBytes: Int64 = 0
    private var hasToldOfPeaks = false

    /// How often the ring is emptied.
    static let pumpInterval = Duration.milliseconds(200)
    /// How often it is looked at for the frames that are still to come, once the take was told to end.
    static let endInterval = Duration.milliseconds(20)

    package init(clock: any Clock, sync: any Syncing) {
        self.clock = clock
        self.sync = sync
    }

    /// How far the take is; nil: there is none.
    var progress: Progress? { shared.withLock { $0 } }

    /// Whether `quit` was ordered.
    private(set) var hasQuit = false

    /// Does what is ordered and what is due.
    /// - Returns: when it wants to be called again at the latest; nil: at the next order.
    package func turn(now: Instant) -> Instant? {
        // To begin a take may last as long as the storage does: what was ordered meanwhile counts before the first frame
        // is taken.
        while case let batch = orders.take(), !batch.isEmpty {
            for order in batch { carryOut(order, now: now) }
        }
        guard recording != nil else { return nil }
        do {
            try advance(now: now)
        } catch {
            fail(error)
        }
        guard let recording, let schedule else { return nil }
        let pump = now + (recording.ending == nil ? Self.pumpInterval : Self.endInterval)
        return schedule.next > now ? min(pump, schedule.next) : pump
    }

    private func carryOut(_ order: Order, now: Instant) {
        switch order {
        case .begin(let order): begin(order, now: now)
        case .mark(let instant, let note): recording?.mark(at: instant, note: note)
        case .filter(let design): recording?.change(to: design)
        case .suspend:
            do {
                try recording?.suspend()
                // The part is made safe at once: nobody knows for how long the card is away.
                schedule?.hurry(now)
            } catch {
                fail(error)
            }
        case .resume(let order): recording?.resume(order)
        case .date(let truth): recording?.date(by: truth)
        case .end(let instant, let ending): recording?.end(at: instant, because: ending)
        case .quit: hasQuit = true
        }
    }

    private func begin(_ order: BeginOrder, now: Instant) {
        precondition(recording == nil, "one take at a time")
        let started = order.pressed - order.preRoll
        let earliest = order.ring.framePosition(at: started - .seconds(1)) ?? 0
        let held = order.ring.hold(from: earliest)
        do {
            let began = order.pressedWall - order.preRoll
            let name = try order.directory.nextTake(kit: order.kit, started: began)
            var sidecar = Sidecar(
                name: name, started: began, startedMonotonic: started, bootID: order.bootID, clock: order.clock,
                card: order.grant.card, format: order.ring.format,
                preRollFrames: order.ring.format.frames(in: order.preRoll), gainDB: order.grant.gainDB,
                agc: order.grant.agc, version: order.version)
            sidecar.pendingFormat = order.pendingFormat
            sidecar.filter = [Sidecar.FilterChange(order.filter, atFrame: 0)]
            let output = try TakeOutput(
                in: order.directory, name: name, sidecar: sidecar, started: began, format: order.ring.format,
                keepsUnfiltered: order.keepUnfiltered, splitBytes: order.splitBytes)
            recording = Recording(order, held: held, output: output)
            directory = order.directory
            leastFreeBytes = StorageWatch.least(
                reserveBytes: order.reserveBytes, format: order.ring.format, isTwinKept: order.keepUnfiltered)
            schedule = SyncSchedule(
                promise: order.syncPromise,
                period: order.ring.format.duration(ofFrames: Int64(order.grant.periodFrames)), lag: order.lag,
                files: order.keepUnfiltered ? 2 : 1, start: order.pressed)
            // What was heard before the press is made safe as soon as it is written.
            if order.preRoll > .zero { schedule?.hurry(now) }
            shared.withLock { $0 = Progress(started: started, rateHz: sidecar.rateHz, safeUntil: started) }
            outcomes.post(.began(name))
        } catch {
            order.ring.letGo()
            outcomes.post(.failed("\(error)", isDiskFull: error.isDiskFull))
        }
    }

    private func advance(now: Instant) throws {
        guard let recording, let directory else { return }
        for result in sync.results() {
            if let error = result.error { throw error }
            outcomes.post(.synced)
        }
        try recording.pump(now: now)
        tellOfPeaks(recording)
        shared.withLock {
            $0 = Progress(
                started: recording.started, rateHz: recording.sidecar.rateHz, frames: recording.frames,
                syncedFrames: recording.syncedFrames, gaps: recording.sidecar.gaps.count,
                safeUntil: recording.safeUntil)
        }
        if recording.isComplete {
            try finish(recording)
            return
        }
        // While the card is away there may be nothing to make safe.
        guard schedule?.isDue(at: now) ?? false, !sync.isBusy, !recording.isSynced else { return }
        // A file system that was made read-only by force says that all is synced.
        try directory.checkWritable()
        if recording.ending == nil, let free = try? directory.freeBytes(), free < leastFreeBytes {
            recording.end(at: nil, because: .diskFull)
        }
        schedule?.started(at: now)
        sync.start(try recording.syncJob())
    }

    private func finish(_ recording: Recording) throws {
        settleSync()
        let sidecar = try recording.finish()
        let failure = Fault(.diskFull, "record: the disk is full down to its reserve")
        close(.finished(recording.name, sidecar, failure: sidecar.endedBy == .diskFull ? failure : nil))
    }

    /// A failure of the storage ends the take with what is safe.
    private func fail(_ error: any Error) {
        guard let recording else { return }
        settleSync()
        let isDiskFull = (error as? FileError)?.isDiskFull ?? false
        recording.end(at: nil, because: isDiskFull ? .diskFull : .storageError)
        let remains = recording.abandon()
        if remains.isFinished {
            let failure = Fault(isDiskFull ? .diskFull : .storageFailing, "record: \(error)")
            close(.finished(recording.name, recording.sidecar, failure: failure))
        } else {
            close(.failed("\(error)", isDiskFull: isDiskFull))
        }
    }

    /// A waveform that could not be written is told once; the take goes on.
    private func tellOfPeaks(_ recording: Recording) {
        guard !hasToldOfPeaks, let failure = recording.peaksFailure else { return }
        hasToldOfPeaks = true
        outcomes.post(.warned("\(recording.name.stem) will have no waveform: \(failure)"))
    }

    private func settleSync() {
        sync.finish()
        _ = sync.results()
    }

    private func close(_ outcome: Outcome) {
        if let recording { tellOfPeaks(recording) }
        hasToldOfPeaks = false
        recording = nil
        directory = nil
        schedule = nil
        shared.withLock { $0 = nil }
        outcomes.post(outcome)
    }
}

/// Runs a writer on a thread of its own.
final class WriterThread {
    private let writer: Writer
    private let thread: Thread

    init(_ writer: Writer, clock: any Clock) throws(ThreadError) {
        self.writer = writer
        thread = try Thread(name: "writer") {
            Denormals.flushToZero()
            while !writer.hasQuit {
                let next = writer.turn(now: clock.now())
                if writer.hasQuit { break }
                writer.orders.wait(nanoseconds: next.map { ($0 - clock.now()).nanoseconds })
            }
        }
    }

    deinit {
        writer.orders.post(.quit)
        thread.join()
    }
}

extension Sidecar.FilterChange {
    init(_ design: FilterDesign, atFrame frame: Int64) {
        self.init(
            atFrame: frame, lowPassHz: design.lowPassHz, slopeDBPerOctave: design.slopeDBPerOctave,
            highPassHz: design.highPassHz)
    }
}
