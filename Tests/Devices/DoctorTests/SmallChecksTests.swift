import FoundationEssentials
import Takes
import TestBench
import Testing
import Transport

@testable import Doctor

@Suite struct FindingTests {
    @Test func `the exit status is that of the first failure in the order of the report`() {
        let findings: [Finding] = [
            .failure(.clock, "clock", exitStatus: 65), .ok(.card, "card"), .warning(.settings, "settings"),
            .failure(.rights, "rights", exitStatus: 77),
        ]
        #expect(findings.exitStatus == 77)
        #expect(findings.inOrder.map(\.subject) == [.settings, .rights, .card, .clock])
        #expect([Finding.warning(.signal, "quiet")].exitStatus == 0)
    }

    @Test func `a finding is JSON and back, numbers that are none are null`() throws {
        let finding = Finding.failure(
            .signal, "dead",
            ["rms": .number(-.infinity), "peak": .number(-6.5), "card": .text("card:Mic"), "x": .unknown])
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys]
        let data = try encoder.encode(finding)
        #expect(
            String(decoding: data, as: UTF8.self)
                == #"{"exit_status":74,"figures":{"card":"card:Mic","peak":-6.5,"rms":null,"x":null},"message":"dead","#
                + #""severity":"failure","subject":"signal"}"#)
        var back = finding
        back.figures["rms"] = .unknown
        #expect(try JSONDecoder().decode(Finding.self, from: data) == back)
    }

    @Test func `numbers have at most one place`() {
        #expect([12.34, 12.0, -0.04, -6.25, 0.05].map(rounded) == ["12.3", "12", "0", "-6.3", "0.1"])
    }
}

@Suite struct SmallChecksTests {
    @Test func `each problem of the settings is a failure, and the recorder's own fault is reported only once`() {
        let problems = ["kit.toml:3: capture.agc: found", "kit.toml:9: filter: found"]
        let faults = [
            Fault(.settings, "kit.toml:3: capture.agc: found (and 1 more)"), Fault(.settings, "the filter is off"),
        ]
        // The standing fault repeats the beginning of the first problem.
        let findings = SettingsCheck(problems: problems, faults: faults).findings
        #expect(findings.map(\.message) == problems + ["the filter is off"])
        #expect(findings.allSatisfy { $0.exitStatus == 78 })
        #expect(SettingsCheck(problems: [], faults: []).findings.map(\.severity) == [.ok])
    }

    @Test(arguments: [(ClockOrigin.ntp, Int32(0)), (.rtc, 0), (.manual, 0), (.unset, 65)])
    func `only a clock that was not set is a failure`(origin: ClockOrigin, status: Int32) {
        let finding = ClockCheck(origin: origin, today: "2026-11-21").finding
        #expect(finding.exitStatus == status)
        #expect(finding.message.contains("2026-11-21"))
        #expect(finding.message.contains("'fieldfare clock set'") == (origin == .unset))
    }

    private static let spaces: [(Int64, Finding.Severity, String)] = [
        (16_777_216 + 115_200_000, .ok, "10 min can be recorded (48000 Hz, 2 channels, S16_LE)"),
        (16_777_216 + 115_199_999, .failure, "only 9 min can be recorded"),
        (16_777_216, .failure, "nothing can be recorded"), (17_179_869_184, .ok, "24.8 h can be recorded"),
    ]

    @Test(arguments: spaces)
    func `space is reported as time, above the reserve`(free: Int64, severity: Finding.Severity, words: String) {
        let finding = SpaceCheck(
            directory: "/takes", freeBytes: free, reserveBytes: 16 << 20, format: nil, isTwinKept: false
        ).finding
        #expect(finding.severity == severity)
        #expect(finding.message.contains(words), "\(finding.message)")
    }

    @Test func `a twin halves the time, 24 bits are stored in 3 bytes, and what is not known is a failure`() {
        let format = StreamFormat(rateHz: 96000, channels: 1, sampleFormat: .s24)
        var check = SpaceCheck(directory: "/takes", freeBytes: nil, reserveBytes: 0, format: format, isTwinKept: true)
        #expect(check.bytesPerSecond == 576_000)
        #expect(check.finding.severity == .failure)
        check.freeBytes = 57_600_000_000
        #expect(check.finding.figures["seconds_left"] == .number(100_000))
    }

    @Test func `programs that take cards are found by name`() {
        let folder = TestFolder()
        for (number, name) in [(812, "pulseaudio"), (7, "wireplumber"), (9, "pulse"), (10, "bash")] {
            folder.write(name + "\n", to: "proc/\(number)/comm")
        }
        folder.write("x\n", to: "proc/version")
        let finding = ProgramCheck(root: folder.path).finding
        #expect(finding.severity == .warning)
        #expect(finding.message.hasPrefix("wireplumber (pid 7), pulseaudio (pid 812) may take"))
        #expect(ProgramCheck(programs: []).finding.severity == .ok)
    }

    @Test(arguments: [
        ("0\n", [Finding.Severity.ok]), ("50005\n", [.failure]), ("0x50000\n", [.warning]), ("80008\n", [.warning]),
        ("1000c\n", [.warning, .warning]), ("nonsense\n", []),
    ])
    func `the firmware reports a weak supply and heat`(text: String, severities: [Finding.Severity]) {
        let folder = TestFolder()
        folder.write(text, to: "sys/devices/platform/soc/soc:firmware/get_throttled")
        #expect(PowerCheck(root: folder.path).findings.map(\.severity) == severities)
    }

    @Test func `so does the driver's alarm, and without either there is no finding`() {
        let folder = TestFolder()
        #expect(PowerCheck(root: folder.path).findings == [])
        folder.write("Raspberry Pi 4 Model B Rev 1.1\0", to: "proc/device-tree/model")
        let unknown = PowerCheck(root: folder.path).findings
        #expect(unknown.map(\.severity) == [.ok] && unknown[0].message.hasSuffix("it is not known"))
        folder.write("cpu_thermal\n", to: "sys/class/hwmon/hwmon0/name")
        folder.write("rpi_volt\n", to: "sys/class/hwmon/hwmon1/name")
        folder.write("1\n", to: "sys/class/hwmon/hwmon1/in0_lcrit_alarm")
        #expect(PowerCheck(root: folder.path).findings.map(\.severity) == [.failure])
        folder.write("0\n", to: "sys/class/hwmon/hwmon1/in0_lcrit_alarm")
        #expect(PowerCheck(root: folder.path).findings.map(\.severity) == [.ok])
    }
}
