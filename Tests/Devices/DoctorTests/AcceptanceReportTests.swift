import FoundationEssentials
import Takes
import Testing

@testable import Doctor

@Suite struct AcceptanceReportTests {
    private let checks = [
        AcceptanceCheck(
            .buttons, "record", .ok, "BTN_RECORD: seen after 1 s", ["line": .text("BTN RECORD"), "seconds": .number(1)]),
        AcceptanceCheck(.lamps, "play", .skipped, "nobody answered"),
        AcceptanceCheck(.card, "capacity", .failed, "the card is false", exitStatus: 74, ["real_bytes": .unknown]),
        AcceptanceCheck(.card, "speed", .failed, "it is held", exitStatus: 75),
    ]

    private func report(_ checks: [AcceptanceCheck], model: String? = "Raspberry Pi 4") -> AcceptanceReport {
        AcceptanceReport(at: WallTime(microseconds: 0), kit: "heron", version: "1.2", model: model, checks: checks)
    }

    @Test func `it names the kit, and has a line for each check with its figures below`() {
        #expect(
            report(checks).text == """
                Fieldfare acceptance report

                date     1970-01-01T00:00:00.000000Z
                kit      heron
                version  1.2
                model    Raspberry Pi 4
                result   1 ok, 2 failed, 1 skipped

                ok       buttons record: BTN_RECORD: seen after 1 s
                         line=BTN_RECORD seconds=1
                skipped  lamps play: nobody answered
                failed   card capacity: the card is false
                         real_bytes=unknown
                failed   card speed: it is held

                """)
        #expect(report([], model: nil).text.contains("model    unknown\nresult   nothing was checked\n"))
    }

    @Test func `the exit status is that of the first failure, and what was skipped has none`() {
        #expect(report(checks).exitStatus == 74)
        #expect(report(checks.reversed()).exitStatus == 75)
        #expect(report(Array(checks.prefix(2))).exitStatus == 0)
        #expect(AcceptanceCheck(.card, "speed", .warning, "slow", exitStatus: 74).exitStatus == 0)
    }

    @Test func `JSON has the same`() throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        let text = String(decoding: try encoder.encode(report([checks[1]], model: nil)), as: UTF8.self)
        #expect(
            text
                == #"{"checks":[{"exit_status":0,"figures":{},"message":"nobody answered","outcome":"skipped","part":"lamps","#
                + #""subject":"play"}],"date":"1970-01-01T00:00:00.000000Z","exit_status":75,"kit":"heron","model":null,"version":"1.2"}"#
        )
    }

    @Test func `the speed is judged as a check-up does it`() {
        let speed = StorageSpeed(bytes: 20_000_000, writing: .seconds(1), syncs: [.milliseconds(6)])
        let checks = SpeedTrial.checks(directory: "/takes", outcome: .measured(speed), bytesPerSecond: 192_000)
        #expect(checks.map(\.outcome) == [.ok] && checks[0].message.hasPrefix("/takes: writes 20 MB/s"))
        let skipped = SpeedTrial.checks(directory: "/takes", outcome: .skipped("no room"), bytesPerSecond: 192_000)
        #expect(skipped == [AcceptanceCheck(.card, "speed", .skipped, "/takes: not measured: no room")])
        let slow = SpeedTrial.checks(directory: "/takes", outcome: .measured(speed), bytesPerSecond: 6_000_000)
        #expect(slow.map(\.exitStatus) == [74])
        #expect(SpeedTrial.bytesPerSecond(format: nil, isTwinKept: true) == 384_000)
    }
}
