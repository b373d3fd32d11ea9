import Files
import History
import Takes
import TestBench
import Testing
import Transport

@testable import Commands

@Suite final class HistoryCommandTests {
    private let scratch = TestFolder()
    private var access: LocalAccess {
        var access = bareMachine
        access.history = scratch.path + "/history"
        return access
    }

    private func keep(_ events: [(seconds: Int64, HistoryEvent)]) throws {
        var writer = HistoryWriter(HistoryFolder(scratch.path + "/history"))
        var records = events.map { seconds, event in
            HistoryRecord(
                at: WallTime(microseconds: 1_795_241_891_250_000 + seconds * 1_000_000),
                uptime: Double(12 + seconds), event)
        }
        try writer.append(&records)
    }

    private func keepDay() throws {
        var measurement = Measurement()
        measurement.temperatures = ["drivetemp": -5.25, "cpu-thermal": 48.3]
        measurement.underVoltage = true
        measurement.throttled = 0x50005
        measurement.freeBytes = 12_300_000_000
        measurement.storageWear = ["mmcblk0": 30]
        measurement.preEndOfLife = ["mmcblk0": 2]
        measurement.isHealthy = ["nvme0n1": true, "sda": false]
        try keep([
            (0, .started(.init(version: "1.0", bootID: "b", before: .powerCut))),
            (1, .card(.init("usb:0d8c:0014", format: "48000 Hz, 1 channel, S16_LE"))), (2, .pressed(.init("record"))),
            (3, .takeBegan(.init("heron07-0001-061811Z"))), (4, .faultBegan(.init(code: 3, message: "clock: not set"))),
            (64, .faultEnded(.init(code: 3, seconds: 60))), (64, .clock(.init(.ntp))), (66, .measured(measurement)),
            (70, .pressed(.init("shutdown"))), (71, .ended(.init(by: .person))),
        ])
    }

    @Test func `the history is read from its folder, a line an event, the oldest first`() throws {
        try keepDay()
        #expect(
            run(["history"], access: access) == (
                0,
                [
                    "2026-11-21 06:18:11  0:00:12.0  recorder 1.0 started, after the power was cut, or the system crashed",
                    "2026-11-21 06:18:12  0:00:13.0  card usb:0d8c:0014: 48000 Hz, 1 channel, S16_LE",
                    "2026-11-21 06:18:13  0:00:14.0  record pressed",
                    "2026-11-21 06:18:14  0:00:15.0  take heron07-0001-061811Z began",
                    "2026-11-21 06:18:15  0:00:16.0  fault 3 began: clock: not set",
                    "2026-11-21 06:19:15  0:01:16.0  fault 3 ended after 0:01:00.0",
                    "2026-11-21 06:19:15  0:01:16.0  clock set by: ntp",
                    "2026-11-21 06:19:17  0:01:18.0  cpu-thermal 48.3 \u{b0}C, drivetemp -5.3 \u{b0}C, "
                        + "under-voltage, throttled 0x50005, 12.3 GB free, mmcblk0 30 % used, mmcblk0 reserve low, "
                        + "sda says that it fails",
                    "2026-11-21 06:19:21  0:01:22.0  stop held: shut down",
                    "2026-11-21 06:19:22  0:01:23.0  recorder ended: a person switched the kit off",
                ], []
            ))
    }

    @Test func `kinds, a time and a limit choose among the events, and the newest are shown`() throws {
        try keepDay()
        #expect(run(["history", "--kind", "press", "--kind", "fault"], access: access).output.count == 4)
        #expect(
            run(["history", "--limit", "1"], access: access).output.first?.contains("switched the kit off") == true)
        #expect(run(["history", "--since", "2026-11-21T06:19:20Z"], access: access).output.count == 2)
        // The test's clock is at 1970-01-01.
        #expect(run(["history", "--since", "yesterday"], access: access).output.count == 10)
        #expect(run(["history", "--limit", "0"], access: access).output.count == 10)
        #expect(run(["history", "--kind", "earthquake"], access: access).status == 64)
        #expect(run(["history", "--limit", "-1"], access: access).status == 64)
    }

    @Test func `as JSON it is one object with the lines of the files`() throws {
        try keep([(0, .pressed(.init("record")))])
        let expected =
            #"{"damaged":0,"history":[{"at":"2026-11-21T06:18:11.250000Z","button":"record","event":"press","uptime_seconds":12}],"unreadable":[]}"#
        #expect(run(["history", "--json"], access: access) == (0, [expected], []))
    }

    @Test func `no history, and damaged lines, are said`() throws {
        let folder = scratch.path + "/history"
        #expect(run(["history"], access: access) == (0, [], ["history: \(folder): no events"]))
        let typed = run(["history", "--directory", scratch.path + "/none"], access: bareMachine)
        #expect(typed.status == 66 && typed.complaints[0].contains("/none: No such file or directory"))
        try keep([(0, .pressed(.init("record")))])
        let file = try FileSystem().open(folder + "/000001.jsonl")
        try FileSystem().write(Array("{}\n".utf8), to: file, at: 0)
        let found = run(["history", "--directory", folder], access: bareMachine)
        #expect(found.status == 0)
        #expect(found.complaints.last?.hasSuffix("lines are damaged, and left out") == true)
    }

    @Test func `a file that cannot be read is named, and the others are shown`() throws {
        try keep([(0, .pressed(.init("record"))), (1, .leftOut(.init(7)))])
        _ = try FileSystem().makeFolder(scratch.path + "/history/000002.jsonl")
        let found = run(["history", "--kind", "fault"], access: access)
        #expect(found.status == 0)
        #expect(found.output == ["2026-11-21 06:18:12  0:00:13.0  7 events left out: too many came in an hour"])
        #expect(found.complaints.count == 1 && found.complaints[0].hasSuffix("it is left out"))
        #expect(run(["history"], access: access).output.count == 2)
    }

    @Test func `what happened with phones is told with their names`() throws {
        try keep([
            (0, .phone(PhoneEvent(.paired, phone: "Anna"))),
            (1, .phone(PhoneEvent(.removed, phone: "Ben", by: "Anna"))),
            (2, .phone(PhoneEvent(.removed, phone: "Anna", by: "Anna"))),
            (3, .phone(PhoneEvent(.settings, keys: ["capture.rate_hz", "kit.name"]))),
            (4, .phone(PhoneEvent(.wrongCodes))), (5, .pressed(.init("record"))),
            (6, .phone(PhoneEvent(.renamed, phone: "Ben’s tablet", by: "Ben"))),
        ])
        #expect(
            run(["history", "--kind", "phone"], access: access).output.map { String($0.dropFirst(32)) } == [
                "phone Anna paired", "phone Ben removed by Anna", "phone Anna removed by itself",
                "settings changed by a phone that is not paired: capture.rate_hz, kit.name",
                "pairing ended by 5 wrong codes", "phone renamed to Ben’s tablet by Ben",
            ])
    }

    @Test func `a text from another program steers no terminal`() throws {
        try keep([(0, .faultBegan(.init(code: 6, message: "a\u{1b}[2Jb")))])
        #expect(run(["history"], access: access).output == ["2026-11-21 06:18:11  0:00:12.0  fault 6 began: a [2Jb"])
    }
}
