import DiskCalls
import History
import Takes
import Testing

@testable import Console

/// The history as a page draws it.
@Suite(.waitsOnNamedThreads) struct HistorySummaryTests {
    private let noon = WallTime(iso8601: "2026-11-21T12:00:00.000000Z")!
    private let day = Duration.seconds(86400)

    /// A record so many minutes before noon, of a machine that booted ten days before noon.
    private func record(_ minutes: Int, _ event: HistoryEvent) -> HistoryRecord {
        let at = noon - .seconds(minutes * 60)
        return HistoryRecord(at: at, uptime: Double(864_000 - minutes * 60), event)
    }

    private func time(_ minutes: Int) -> String { (noon - .seconds(minutes * 60)).iso8601 }

    private func interval(_ from: Int, _ until: Int) -> HistorySummary.Interval {
        .init(from: time(from), until: time(until))
    }

    private var start: HistoryEvent { .started(.init(version: "1", bootID: "a", before: .none)) }

    private func taken(_ minutes: Double) throws -> HistoryEvent {
        let line =
            #"{"at":"\#(noon.iso8601)","clock_drift_ppm":null,"event":"take-end","gaps":0,"seconds":\#(minutes * 60),"take":"a","uptime_seconds":1}"#
        return try #require(HistoryRecord(line: Array(line.utf8))).event
    }

    private func measured(_ degrees: [Double], volts: Double? = nil, free: Int64? = nil) -> HistoryEvent {
        var measurement = Measurement()
        measurement.temperatures = Dictionary(
            uniqueKeysWithValues: degrees.enumerated().map { ("sensor\($0)", $1) })
        (measurement.supplyVolts, measurement.freeBytes) = (volts, free)
        return .measured(measurement)
    }

    @Test func `without records there is an empty day`() {
        let summary = HistorySummary([], span: nil, now: noon)
        #expect(summary.from == time(24 * 60) && summary.until == time(0))
        #expect(summary.measured.isEmpty && summary.recorded.isEmpty && summary.running.isEmpty)
        #expect(summary.faults.isEmpty && summary.events.isEmpty && summary.leftOut == 0)
    }

    @Test func `takes and runs are intervals, also those that a power cut ended and those that go on`() throws {
        let records = [
            record(700, start), record(690, .takeBegan(.init("a"))), record(630, try taken(60)),
            // The power was cut while it recorded; it was last seen at 500 minutes before noon.
            record(520, .takeBegan(.init("b"))), record(500, measured([20])),
            record(400, start), record(300, .ended(.init(by: .schedule))),
            record(100, start), record(10, .takeBegan(.init("c"))), record(8, measured([21])),
        ]
        let summary = HistorySummary(records, span: day, now: noon)
        #expect(summary.recorded == [interval(690, 630), interval(520, 500), interval(10, 0)])
        #expect(summary.recordedSeconds == 90 * 60)
        #expect(summary.running == [interval(700, 500), interval(400, 300), interval(100, 0)])
        #expect(summary.runningSeconds == 400 * 60)
        #expect(summary.events.map(\.at.iso8601) == [100, 300, 400, 700].map(time))
        // Without a sign of life for a quarter of an hour, the last run has ended.
        let later = HistorySummary(records, span: day, now: noon + .seconds(20 * 60))
        #expect(later.recorded.last == interval(10, 8) && later.running.last == interval(100, 8))
    }

    @Test func `a take that began before the span, or before the oldest record, is cut at the span's begin`() throws {
        let records = [record(90, try taken(120)), record(80, .pressed(.init("stop")))]
        let summary = HistorySummary(records, span: .seconds(3 * 3600), now: noon)
        #expect(summary.recorded == [interval(180, 90)] && summary.recordedSeconds == 90 * 60)
    }

    @Test func `pauses shorter than a step are not drawn, and still are no recorded time`() throws {
        // A step of a day is 4.8 minutes.
        let records = [record(60, try taken(10)), record(47, try taken(9)), record(30, try taken(10))]
        let summary = HistorySummary(records, span: day, now: noon)
        #expect(summary.recorded == [interval(70, 47), interval(40, 30)])
        #expect(summary.recordedSeconds == 29 * 60)
    }

    @Test func `a fault has its end, and none while it is there`() {
        func fault(_ code: Int) -> HistoryEvent { .faultBegan(.init(code: code, message: "fault \(code)")) }
        let records = [
            record(200, start), record(190, fault(4)), record(180, .faultEnded(.init(code: 4, seconds: 600))),
            record(170, fault(2)), record(100, start), record(5, fault(1)),
        ]
        let faults = HistorySummary(records, span: day, now: noon).faults
        #expect(
            faults == [
                .init(at: time(5), until: nil, code: 1, message: "fault 1"),
                // It ended with the run.
                .init(at: time(170), until: time(170), code: 2, message: "fault 2"),
                .init(at: time(190), until: time(180), code: 4, message: "fault 4"),
            ])
        #expect(HistorySummary(records, span: .seconds(3600), now: noon).faults.map(\.code) == [1])
        let many = (0..<130).map { record(1000 - $0, fault($0)) }
        let summary = HistorySummary(many, span: day, now: noon)
        #expect(summary.faults.map(\.code) == Array((30..<130).reversed()) && summary.leftOut == 30)
    }

    @Test func `measurements are thinned to the hottest, the lowest voltage, and the last free space`() {
        let records = [
            record(100, measured([20, 30], volts: 3.9, free: 7)), record(99, measured([25], volts: 3.4)),
            record(98, measured([], volts: 3.8, free: 5)), record(50, measured([22])), record(40, measured([])),
        ]
        let points = HistorySummary(records, span: day, now: noon).measured
        #expect(
            points == [
                .init(at: time(98), celsius: 30, supplyVolts: 3.4, freeBytes: 5),
                .init(at: time(50), celsius: 22, supplyVolts: nil, freeBytes: nil),
            ])
        let many = (0..<5000).map { record(5000 - $0, measured([20])) }
        #expect(HistorySummary(many, span: nil, now: noon).measured.count <= HistorySummary.mostPoints + 1)
    }

    @Test func `what happened before the clock was set has the date of its uptime`() {
        let wrong = WallTime(iso8601: "1970-01-01T00:00:00.000000Z")!
        let records = [
            HistoryRecord(at: wrong, uptime: 600, start),
            HistoryRecord(at: wrong + .seconds(60), uptime: 660, measured([20])),
            HistoryRecord(at: noon, uptime: 1200, .clock(.init(.ntp))),
        ]
        let summary = HistorySummary(records, span: day, now: noon)
        #expect(summary.measured.map(\.at) == [time(9)])
        #expect(summary.running == [interval(10, 0)])
        // A clock that was never set shows nothing of its run.
        #expect(HistorySummary(Array(records.dropLast()), span: day, now: noon).running.isEmpty)
        // A number that a disk damaged.
        let damaged = HistoryRecord(at: noon, uptime: 1e300, start)
        #expect(HistorySummary([damaged], span: nil, now: noon).events.count == 1)
    }

    @Test func `runs whose clocks were set back are in the order of their dates, and count once`() {
        func run(_ from: Int, _ until: Int) -> [HistoryRecord] {
            let (end, uptime) = (noon - .seconds(until * 60), Double((from - until) * 60 + 10))
            return [
                HistoryRecord(at: noon - .seconds(from * 60), uptime: 10, start),
                HistoryRecord(at: end, uptime: uptime, measured([20])),
                HistoryRecord(at: end, uptime: uptime, .ended(.init(by: .schedule))),
            ]
        }
        let summary = HistorySummary(run(60, 50) + run(100, 90) + run(95, 80), span: day, now: noon)
        #expect(summary.running == [interval(100, 80), interval(60, 50)] && summary.runningSeconds == 30 * 60)
        #expect(summary.measured.map(\.at) == [90, 80, 50].map(time))
    }

    @Test func `runs keep their dates if the line of a start was damaged`() {
        let records = [
            HistoryRecord(at: noon - .seconds(7200), uptime: 36_000, measured([20])),
            HistoryRecord(at: noon - .seconds(3600), uptime: 60, measured([21])),
            // A number that a disk damaged.
            HistoryRecord(at: noon - .seconds(1800), uptime: 1e300, measured([22])),
            HistoryRecord(at: noon, uptime: 3660, measured([23])),
        ]
        let times = HistorySummary(records, span: day, now: noon).measured.map(\.at)
        #expect(times == [120, 60, 0].map(time))
    }
}
