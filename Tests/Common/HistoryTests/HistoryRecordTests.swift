import Takes
import Testing
import Transport

@testable import History

@Suite struct HistoryRecordTests {
    private static let at = WallTime(microseconds: 1_795_241_891_250_000)

    private static var measurement: Measurement {
        var measurement = Measurement()
        measurement.temperatures = ["cpu-thermal": 48.312]
        measurement.underVoltage = false
        measurement.throttled = 0x50000
        measurement.freeBytes = 12_000_000_000
        measurement.storageWear = ["mmcblk0": 20]
        measurement.preEndOfLife = ["mmcblk0": 1]
        return measurement
    }

    /// One of each event, with its line.
    private static let lines: [(HistoryEvent, String)] = [
        (
            .started(.init(version: "1.0", bootID: "b", before: .powerCut)),
            #""before":"power-cut","boot_id":"b","event":"start","uptime_seconds":12.5,"version":"1.0"}"#
        ),
        (.ended(.init(by: .person)), #""by":"person","event":"end","uptime_seconds":12.5}"#),
        (.pressed(.init("record")), #""button":"record","event":"press","uptime_seconds":12.5}"#),
        (
            .takeBegan(.init("heron07-0001-061811Z")),
            #""event":"take","take":"heron07-0001-061811Z","uptime_seconds":12.5}"#
        ),
        (
            .faultBegan(.init(code: 1, message: "card: none")),
            #""code":1,"event":"fault","message":"card: none","uptime_seconds":12.5}"#
        ),
        (
            .faultEnded(.init(code: 1, seconds: 3.25)),
            #""code":1,"event":"fault-end","seconds":3.25,"uptime_seconds":12.5}"#
        ),
        (
            .card(.init("usb:0d8c:0014", format: "48000 Hz, 1 channel, S16_LE")),
            #""card":"usb:0d8c:0014","event":"card","format":"48000 Hz, 1 channel, S16_LE","uptime_seconds":12.5}"#
        ),
        (
            .card(.init("usb:0d8c:0014", port: "1-1.4", format: "48000 Hz")),
            #""card":"usb:0d8c:0014","event":"card","format":"48000 Hz","port":"1-1.4","uptime_seconds":12.5}"#
        ),
        (.clock(.init(.ntp)), #""event":"clock","origin":"ntp","uptime_seconds":12.5}"#),
        (
            .phone(PhoneEvent(.removed, phone: "Anna", by: "Ben")),
            #""by":"Ben","event":"phone","phone":"Anna","uptime_seconds":12.5,"what":"removed"}"#
        ),
        (.leftOut(.init(7)), #""count":7,"event":"left-out","uptime_seconds":12.5}"#),
        (
            .measured(measurement),
            #""event":"measure","free_bytes":12000000000,"pre_eol_info":{"mmcblk0":1},"storage_wear_percent":{"mmcblk0":20},"#
                + #""temperatures":{"cpu-thermal":48.312},"throttled":327680,"under_voltage":false,"uptime_seconds":12.5}"#
        ),
    ]

    @Test func `each event is one line of JSON, which is read as it was written`() throws {
        for (event, text) in Self.lines {
            let record = HistoryRecord(at: Self.at, uptime: 12.5, event)
            let line = try #require(record.line)
            #expect(String(decoding: line, as: UTF8.self) == #"{"at":"2026-11-21T06:18:11.250000Z","# + text + "\n")
            #expect(HistoryRecord(line: line.dropLast()) == record)
        }
    }

    @Test func `a line that is damaged at any byte is none, or a record, and never both halves of two`() throws {
        let line = Array(try #require(HistoryRecord(at: Self.at, uptime: 12.5, Self.lines[0].0).line).dropLast())
        for end in 0..<line.count { #expect(HistoryRecord(line: line[..<end]) == nil) }
        #expect(HistoryRecord(line: line + line) == nil)
    }

    @Test func `a record that would be too long, or has a number that is none, has no line`() {
        let long = String(repeating: "x", count: HistoryRecord.longestLine)
        #expect(HistoryRecord(at: Self.at, uptime: 1, .faultBegan(.init(code: 1, message: long))).line == nil)
        #expect(HistoryRecord(at: Self.at, uptime: .infinity, .pressed(.init("stop"))).line == nil)
    }

    @Test func `a record of the longest names has a line`() throws {
        let long = String(repeating: "\u{1}", count: PhoneEvent.longestName)
        let keys = (0..<200).map { "outbox.stores.longest_name_of_a_key_\($0)" }
        let event = PhoneEvent(.settings, phone: long, by: long, keys: keys)
        #expect(event.keys?.count == PhoneEvent.mostKeys)
        #expect(HistoryRecord(at: Self.at, uptime: 12.5, .phone(event)).line != nil)
    }

    @Test func `an event of a later version is skipped`() {
        let line = #"{"at":"2026-11-21T06:18:11.250000Z","event":"earthquake","uptime_seconds":1}"#
        #expect(HistoryRecord(line: Array(line.utf8)) == nil)
    }
}
