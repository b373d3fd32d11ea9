import DiskCalls
import Foundation
import History
import Settings
import Takes
import Testing

@testable import Catalog
@testable import Console

/// What a day's page shows, in the time zone of the process, which these tests leave as it is.
@Suite(.waitsOnNamedThreads) struct DayViewTests {
    private static let begin = LocalZone.kit.start(of: CalendarDay("2026-11-22")!)
    private static let day = begin..<begin + .seconds(86_400)

    private func record(_ second: Double, _ event: HistoryEvent) -> HistoryRecord {
        HistoryRecord(at: Self.begin + .seconds(second), uptime: 1, event)
    }

    private func view(
        _ takes: [Catalog.TimedTake] = [], hours: [String] = [], records: [HistoryRecord] = [],
        now second: Double = 1000
    ) -> DayView {
        DayView(
            of: Self.day, takes: takes, hours: hours.compactMap { HoursOfDay($0) }, records: records,
            now: Self.begin + .seconds(second))
    }

    private func take(_ number: Int, at second: Double) -> Catalog.TimedTake {
        Catalog.TimedTake(
            identity: TakeIdentity(stem: "heron07-000\(number)_20261122_000000"), number: number,
            title: number == 1 ? "weir" : nil, started: Self.begin + .seconds(second), spanSeconds: 100, rateHz: 1000,
            folder: nil, id: Int64(number), markerCount: 2)
    }

    private func json(_ view: DayView) throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys]
        return String(decoding: try encoder.encode(view), as: UTF8.self)
    }

    @Test func `a day without anything has empty lists, and no plan`() throws {
        #expect(try json(view()) == #"{"faults":[],"markers":[],"measured":[],"takes":[]}"#)
    }

    @Test func `all is in seconds since the day began`() throws {
        let takes = [take(1, at: -40.5), take(2, at: 86_390)]
        var measurement = Measurement()
        (measurement.supplyVolts, measurement.temperatures) = (12.1, ["cpu": 41, "card": 45.5])
        var view = view(
            takes, hours: ["04:00-05:30"],
            records: [
                record(-100, .faultBegan(.init(code: 3, message: "clock"))),
                record(600, .measured(measurement)), record(900, .faultEnded(.init(code: 3, seconds: 1000))),
                record(1000, .faultBegan(.init(code: 1, message: "no card"))),
            ])
        var region = Sidecar.Marker(atFrame: TakeFrame(50_000), note: nil)
        region.label = "wren"
        view.add([Sidecar.Marker(atFrame: .first, note: "before"), region], of: takes[0], on: Self.day)
        view.add([Sidecar.Marker(atFrame: TakeFrame(10_000), note: "after")], of: takes[1], on: Self.day)
        #expect(
            try json(view)
                == #"{"faults":[{"at_seconds":-100,"code":3,"message":"clock","until_seconds":900},"#
                + #"{"at_seconds":1000,"code":1,"message":"no card"}],"#
                + #""markers":[{"at_seconds":9.5,"note":"wren","take":"heron07-0001_20261122_000000"}],"#
                + #""measured":[{"at_seconds":600,"battery_volts":12.1,"temperature_c":45.5}],"#
                + #""planned":[{"from":14400,"until":19800}],"#
                + #""takes":[{"number":1,"seconds":100,"start_seconds":-40.5,"take":"heron07-0001_20261122_000000","title":"weir"},"#
                + #"{"number":2,"seconds":100,"start_seconds":86390,"take":"heron07-0002_20261122_000000"}]}"#)
    }

    @Test func `planned hours over midnight are of both days`() {
        #expect(
            view(hours: ["22:00-06:00", "12:00-12:30"]).planned == [
                .init(from: 0, until: 21_600), .init(from: 43_200, until: 45_000), .init(from: 79_200, until: 86_400),
            ])
    }

    @Test func `faults of other days are left out, and one that lasted all day is not`() {
        let records = [
            record(-1000, .faultBegan(.init(code: 1, message: "old"))),
            record(-10, .faultEnded(.init(code: 1, seconds: 990))),
            record(-5, .faultBegan(.init(code: 2, message: "all day"))),
            record(90_000, .faultEnded(.init(code: 2, seconds: 90_005))),
            record(90_001, .faultBegan(.init(code: 3, message: "late"))),
        ]
        #expect(view(records: records).faults.map(\.message) == ["all day"])
    }

    @Test func `a fault ends with the last sign of a recorder that lost its power`() {
        let before = [
            record(-5000, .faultBegan(.init(code: 1, message: "old"))), record(-4000, .measured(Measurement())),
        ]
        #expect(view(records: before, now: 50_000).faults == [])
        let records = [
            record(100, .faultBegan(.init(code: 2, message: "clock"))), record(700, .measured(Measurement())),
        ]
        #expect(view(records: records, now: 1500).faults.map(\.untilSeconds) == [nil])
        #expect(view(records: records, now: 1700).faults.map(\.untilSeconds) == [700])
        #expect(view(records: records, now: 500_000).faults.map(\.untilSeconds) == [700])
    }

    @Test func `of many measurements, 300 are shown, from the first one on`() {
        let records = (0..<700).map { index in
            var measurement = Measurement()
            measurement.supplyVolts = Double(index)
            return record(Double(index), .measured(measurement))
        }
        let shown = view(records: records).measured
        #expect(shown.count == 300 && shown[0].batteryVolts == 0 && shown[299].batteryVolts == 697)
        #expect(shown.allSatisfy { $0.atSeconds == $0.batteryVolts })
        #expect(view(records: Array(records.prefix(299))).measured.count == 299)
    }
}
