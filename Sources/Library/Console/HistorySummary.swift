import History
import Takes
import Transport

/// The history of a span, as a page draws it: thinned measurements, intervals, faults, and the events that interest a
/// technician. Pure.
struct HistorySummary: Encodable, Equatable {
    /// The span, as ISO 8601 in UTC.
    var from: String
    var until: String
    /// Measurements are thinned to one in this time.
    var stepSeconds: Double
    /// The oldest first.
    var measured: [Point]
    /// When takes were recorded, the oldest first. Pauses shorter than a step are left out.
    var recorded: [Interval]
    /// How long takes were recorded, with all pauses.
    var recordedSeconds: Double
    /// When the recorder ran, like `recorded`.
    var running: [Interval]
    var runningSeconds: Double
    /// The newest first.
    var faults: [Fault]
    /// Starts, ends, cards, clocks, phones and omissions, the newest first.
    var events: [HistoryRecord]
    /// How many older faults and events are missing, because a page shows only the newest.
    var leftOut: Int

    struct Interval: Encodable, Equatable {
        var from: String
        var until: String

        init(from: String, until: String) {
            self.from = from
            self.until = until
        }

        init(_ interval: Range<WallTime>) {
            self.init(from: interval.lowerBound.iso8601, until: interval.upperBound.iso8601)
        }
    }

    /// The measurements of one step: the highest temperature, the lowest voltage, and the last free space.
    struct Point: Encodable, Equatable {
        var at: String
        var celsius: Double?
        var supplyVolts: Double?
        var freeBytes: Int64?

        enum CodingKeys: String, CodingKey {
            case at, celsius
            case supplyVolts = "supply_volts"
            case freeBytes = "free_bytes"
        }
    }

    struct Fault: Encodable, Equatable {
        var at: String
        /// Nil if it is still there.
        var until: String?
        var code: Int
        var message: String
    }

    enum CodingKeys: String, CodingKey {
        case from, until, measured, recorded, running, faults, events
        case stepSeconds = "step_seconds"
        case recordedSeconds = "recorded_seconds"
        case runningSeconds = "running_seconds"
        case leftOut = "left_out"
    }

    /// The most measurements. A phone has about as many pixels.
    static let mostPoints = 300
    /// The most faults, and the most events.
    static let mostEntries = 100
    /// The recorder measures more often than this, so a longer silence means that it does not run.
    static let longestSilence = Duration.seconds(900)
    /// A clock that was not set is years behind, so records are older than this only by mistake.
    private static let oldest = Duration.seconds(400 * 86400)

    /// - Parameters:
    ///   - records: in their order.
    ///   - span: how far back to go, or nil for all records.
    ///   - now: the end of the span.
    init(_ records: [HistoryRecord], span: Duration?, now: WallTime) {
        let records = Self.corrected(records).filter { $0.at > now - Self.oldest && $0.at <= now }
        let begin = now - (span ?? records.map { now - $0.at }.max() ?? .seconds(86400))
        let window = begin..<max(now, begin + .seconds(60))
        let step = (window.upperBound - window.lowerBound) / Self.mostPoints
        (from, until) = (window.lowerBound.iso8601, window.upperBound.iso8601)
        stepSeconds = step.inSeconds
        measured = Self.points(records, in: window, step: step)
        var course = Course()
        for record in records { course.add(record) }
        let silent = course.end(now: now)
        let (recorded, running) = (Self.clipped(course.recorded, to: window), Self.clipped(course.running, to: window))
        self.recorded = Self.merged(recorded, over: step).map { Interval($0) }
        self.running = Self.merged(running, over: step).map { Interval($0) }
        (recordedSeconds, runningSeconds) = (Self.seconds(recorded), Self.seconds(running))
        let faults = Self.faults(records, until: silent).filter { ($0.until ?? now) >= window.lowerBound }
        let events = records.filter { window.lowerBound <= $0.at && $0.interests }
        self.faults = faults.suffix(Self.mostEntries).reversed().map { fault in
            Fault(at: fault.from.iso8601, until: fault.until?.iso8601, code: fault.code, message: fault.message)
        }
        self.events = events.suffix(Self.mostEntries).reversed()
        leftOut = max(0, faults.count - Self.mostEntries) + max(0, events.count - Self.mostEntries)
    }

    /// The records with the dates of the clock at the end of their run. So what happened before the clock was set has
    /// its true date, too.
    static func corrected(_ records: [HistoryRecord]) -> [HistoryRecord] {
        var corrected = records
        var boot: WallTime?
        var later = Self.oldest
        for index in records.indices.reversed() {
            let record = records[index]
            let uptime = Self.bounded(seconds: record.uptime)
            if uptime < Self.oldest {
                // It is of an earlier boot. The disk may have damaged the line of the start in between.
                if uptime > later + .seconds(60) { boot = nil }
                later = uptime
            }
            let date = (boot ?? record.at - uptime) + uptime
            boot = date - uptime
            // A clock that runs a little fast or slow is not corrected.
            if abs(date.microseconds - record.at.microseconds) > 60_000_000 { corrected[index].at = date }
            if case .started = record.event { boot = nil }
        }
        return corrected
    }

    /// A damaged number must not overflow.
    private static func bounded(seconds: Double) -> Duration { .seconds(min(max(0, seconds), 1e9)) }

    private static func points(_ records: [HistoryRecord], in window: Range<WallTime>, step: Duration) -> [Point] {
        var points: [Int64: Point] = [:]
        for record in records where window.lowerBound <= record.at {
            guard case .measured(let measurement) = record.event else { continue }
            var point = Point(
                at: record.at.iso8601, celsius: measurement.temperatures?.values.max(),
                supplyVolts: measurement.supplyVolts, freeBytes: measurement.freeBytes)
            guard point.celsius != nil || point.supplyVolts != nil || point.freeBytes != nil else { continue }
            let number = (record.at.microseconds - window.lowerBound.microseconds) * 1000 / max(1, step.nanoseconds)
            if let former = points[number] {
                point.celsius = [former.celsius, point.celsius].compactMap(\.self).max()
                point.supplyVolts = [former.supplyVolts, point.supplyVolts].compactMap(\.self).min()
                point.freeBytes = point.freeBytes ?? former.freeBytes
            }
            points[number] = point
        }
        return points.sorted { $0.key < $1.key }.map(\.value)
    }

    /// The faults whose beginning is known.
    /// - Parameter silent: when the recorder fell silent, which ended its faults, or nil if it did not.
    private static func faults(_ records: [HistoryRecord], until silent: WallTime?) -> [PastFault] {
        PastFault.all(in: records).filter { !$0.message.isEmpty }.map { fault in
            var fault = fault
            fault.until = fault.until ?? silent
            return fault
        }
    }

    /// In order, without overlaps: dates of a run may lie before those of the run before, if its clock was wrong.
    private static func clipped(_ intervals: [Range<WallTime>], to window: Range<WallTime>) -> [Range<WallTime>] {
        merged(intervals.map { $0.clamped(to: window) }.filter { !$0.isEmpty }, over: .zero)
    }

    private static func seconds(_ intervals: [Range<WallTime>]) -> Double {
        intervals.reduce(0) { $0 + ($1.upperBound - $1.lowerBound).inSeconds }
    }

    /// Intervals in order. Those with a shorter pause between them become one.
    private static func merged(_ intervals: [Range<WallTime>], over pause: Duration) -> [Range<WallTime>] {
        var merged: [Range<WallTime>] = []
        for interval in intervals.sorted(by: { $0.lowerBound < $1.lowerBound }) {
            if let last = merged.last, interval.lowerBound < last.upperBound + pause {
                merged[merged.count - 1] = last.lowerBound..<max(last.upperBound, interval.upperBound)
            } else {
                merged.append(interval)
            }
        }
        return merged
    }

    /// The takes and runs, from one record to the next.
    private struct Course {
        private(set) var recorded: [Range<WallTime>] = []
        private(set) var running: [Range<WallTime>] = []
        /// When the run began, the first record of it, or nil after its end.
        private var run: WallTime?
        /// When the take that is recorded began, or nil.
        private var take: WallTime?
        private var last: WallTime?

        mutating func add(_ record: HistoryRecord) {
            switch record.event {
            case .started:
                if let last { close(at: last) }
                run = record.at
            case .ended: close(at: record.at)
            case .takeBegan:
                endTake(at: record.at)
                take = record.at
            case .takeEnded(let ending):
                // The take may have begun before the oldest record.
                let began = record.at - HistorySummary.bounded(seconds: ending.seconds)
                if began < record.at { recorded.append(began..<record.at) }
                take = nil
            case .pressed, .faultBegan, .faultEnded, .card, .clock, .measured, .phone, .leftOut: break
            }
            if case .ended = record.event {} else { run = run ?? record.at }
            last = record.at
        }

        /// Ends the last run now, or with its last record if it fell silent.
        /// - Returns: when it fell silent, or nil if it goes on or had ended.
        mutating func end(now: WallTime) -> WallTime? {
            guard let last, let run else { return nil }
            guard now - last <= HistorySummary.longestSilence else {
                close(at: last)
                return last
            }
            endTake(at: now)
            if run < now { running.append(run..<now) }
            return nil
        }

        private mutating func close(at time: WallTime) {
            endTake(at: time)
            if let run, run < time { running.append(run..<time) }
            run = nil
        }

        private mutating func endTake(at time: WallTime) {
            if let take, take < time { recorded.append(take..<time) }
            take = nil
        }
    }
}

extension HistoryRecord {
    /// Whether it is listed for a technician. Takes, faults and measurements are shown in other ways.
    fileprivate var interests: Bool {
        switch event {
        case .started, .ended, .card, .clock, .phone, .leftOut: true
        case .pressed, .takeBegan, .takeEnded, .faultBegan, .faultEnded, .measured: false
        }
    }
}
