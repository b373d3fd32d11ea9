import Deck
import Files
import Glibc
import History
import Kit
import Ring
import Takes
import Transport
import Workers

/// Keeps the kit's history. A thread of low priority writes and syncs the events, and nothing waits for it.
final class FlightRecorder: LoopPart {
    private let clock: any Clock
    private let worker: Worker<Order, Outcome>
    private let freeBytes: () -> Int64?
    private let report: (Report) -> Void
    private var faults = FaultSpans()
    /// Each kind of event has its own limit: flickering presses must not displace faults, and neither may displace
    /// takes.
    private var (presses, shown, phones, others) = (
        HourlyLimit(most: 200), HourlyLimit(most: 200), HourlyLimit(most: 200), HourlyLimit(most: 600)
    )
    private var nextMeasurement: Instant

    enum Order: Sendable {
        /// The first order: the recorder started.
        case begin(version: String, bootID: String, WallTime, uptime: Double)
        case note(HistoryRecord)
        /// Measure, and append the measurement.
        case measure(WallTime, uptime: Double, freeBytes: Int64?)
        /// The last order: the recorder ends.
        case end(HistoryRecord)
    }

    enum Outcome: Sendable {
        case reported(Report)
        case ended
    }

    static let measurementInterval = Duration.seconds(600)

    /// - Parameter freeBytes: the storage's free bytes, for each measurement.
    /// - Throws: `ThreadError` if the system grants no thread.
    init(
        _ folder: HistoryFolder, sensors: Sensors, version: String, bootID: String, clock: any Clock,
        freeBytes: @escaping () -> Int64?, report: @escaping (Report) -> Void
    ) throws(ThreadError) {
        self.clock = clock
        self.freeBytes = freeBytes
        self.report = report
        // The first measurement waits until the start, which needs the processor, is over.
        nextMeasurement = clock.now() + .seconds(60)
        worker = HistoryWork.worker(folder, sensors, clock: clock)
        worker.post(.begin(version: version, bootID: bootID, clock.wallTime(), uptime: clock.now().uptime))
        try worker.start(name: "history", priority: .low)
    }

    var fileDescriptors: [Int32] { [worker.fileDescriptor] }

    /// Passes the thread's reports on.
    func ready(now: Instant) {
        for outcome in worker.outcomes() {
            if case .reported(let line) = outcome { report(line) }
        }
    }

    func note(_ event: KitEvent) {
        switch event {
        case .pressed(let button): note(.pressed(.init(button)))
        case .ending: break
        case .began(let name): note(.takeBegan(.init(name.stem)))
        case .finished(let sidecar): note(.takeEnded(.init(sidecar)))
        case .faults(let shown): faults.update(shown, at: clock.now()).forEach(note)
        case .opened(let grant):
            note(.card(.init(grant.card, port: grant.place.port, format: grant.summary)))
        case .phone(let event): note(HistoryEvent.phone(event))
        }
    }

    /// Records that the date was set, or that its origin became known.
    func note(_ origin: ClockOrigin) { note(.clock(.init(origin))) }

    private func note(_ event: HistoryEvent) {
        let now = clock.now()
        let isAdmitted =
            switch event {
            case .pressed: presses.admits(at: now)
            case .faultBegan, .faultEnded: shown.admits(at: now)
            case .phone: phones.admits(at: now)
            default: others.admits(at: now)
            }
        if isAdmitted { worker.post(.note(record(event))) }
    }

    private func noteLeftOut() {
        let count = presses.takeLeftOut() + shown.takeLeftOut() + phones.takeLeftOut() + others.takeLeftOut()
        if count > 0 { worker.post(.note(record(.leftOut(.init(count))))) }
    }

    private func record(_ event: HistoryEvent) -> HistoryRecord {
        HistoryRecord(at: clock.wallTime(), uptime: clock.now().uptime, event)
    }

    /// Orders a measurement when it is due. The loop turns often enough for this without a deadline.
    func turn(now: Instant) -> Instant? {
        guard now >= nextMeasurement else { return nil }
        nextMeasurement = now + Self.measurementInterval
        noteLeftOut()
        worker.post(.measure(clock.wallTime(), uptime: now.uptime, freeBytes: freeBytes()))
        return nil
    }

    /// Records the end of the recorder. Waits at most one second for the write, because the storage may hang.
    func end(by cause: HistoryEvent.RecorderEnd.Cause) {
        noteLeftOut()
        worker.post(.end(record(.ended(.init(by: cause)))))
        let deadline = clock.now() + .seconds(1)
        while clock.now() < deadline {
            worker.wait(nanoseconds: (deadline - clock.now()).nanoseconds)
            let outcomes = worker.outcomes()
            for case .reported(let line) in outcomes { report(line) }
            if outcomes.contains(where: { if case .ended = $0 { true } else { false } }) { return }
        }
    }
}

private final class HistoryWork {
    private let folder: HistoryFolder
    private let sensors: Sensors
    private var writer: HistoryWriter
    /// Records that are not on the disk yet.
    private var pending: [HistoryRecord] = []
    /// The error message of the last write if it failed.
    private var failure: String?

    /// The oldest records above this number are dropped.
    private static let mostPending = 1000

    static func worker(
        _ folder: HistoryFolder, _ sensors: Sensors, clock: any Clock
    ) -> Worker<FlightRecorder.Order, FlightRecorder.Outcome> {
        let work = HistoryWork(folder, sensors)
        return Worker(clock: clock) { orders, _, outcomes in
            work.turn(orders, outcomes)
            return nil
        }
    }

    private init(_ folder: HistoryFolder, _ sensors: Sensors) {
        self.folder = folder
        self.sensors = sensors
        writer = HistoryWriter(folder)
    }

    private func turn(
        _ orders: [FlightRecorder.Order], _ outcomes: Mailbox<FlightRecorder.Outcome>
    ) {
        var isLast = false
        for order in orders {
            switch order {
            case .begin(let version, let bootID, let at, let uptime):
                let before = RunEnd(
                    before: folder.lastRun(), bootID: bootID, wasReset: sensors.wasResetByWatchdog)
                pending.append(
                    HistoryRecord(
                        at: at, uptime: uptime, .started(.init(version: version, bootID: bootID, before: before))))
                if let line = before.report { outcomes.post(.reported(line)) }
            case .note(let record): pending.append(record)
            case .measure(let at, let uptime, let freeBytes):
                var measurement = sensors.measurement()
                measurement.freeBytes = freeBytes
                if !measurement.isEmpty {
                    pending.append(HistoryRecord(at: at, uptime: uptime, .measured(measurement)))
                }
            case .end(let record):
                pending.append(record)
                isLast = true
            }
        }
        write(outcomes)
        if isLast { outcomes.post(.ended) }
    }

    private func write(_ outcomes: Mailbox<FlightRecorder.Outcome>) {
        do throws(FileError) {
            try writer.append(&pending)
            failure = nil
        } catch {
            pending.removeFirst(max(0, pending.count - Self.mostPending))
            let sentence = "history: \(error.fact): the next event is written again"
            if sentence != failure { outcomes.post(.reported(Report(.warning, sentence))) }
            failure = sentence
        }
    }
}

extension RunEnd {
    /// The log line about the previous run's end, or nil if that run ended properly.
    fileprivate var report: Report? {
        switch self {
        case .none, .unknown, .signal, .person, .battery, .schedule: nil
        case .crash: Report(.warning, "history: the recorder was not ended before: it crashed, or was killed")
        case .powerCut: Report(.warning, "history: the kit was not shut down before: its power was cut, or it crashed")
        case .watchdog: Report(.warning, "history: the kit did not answer before, and its watchdog reset it")
        }
    }
}

extension Instant {
    /// Seconds since the clock's zero, which is the boot, to the millisecond.
    var uptime: Double { Double(nanoseconds / 1_000_000) / 1000 }
}

extension Duration {
    /// Seconds, to the millisecond.
    var inMilliseconds: Double { Double(nanoseconds / 1_000_000) / 1000 }
}
