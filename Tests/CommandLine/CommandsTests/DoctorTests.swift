import Control
import Doctor
import Panel
import Synchronization
import Takes
import Testing

@testable import Commands

@Suite struct DoctorTests {
    private let healthy: [Finding] = [.ok(.settings, "nothing is wrong"), .ok(.card, "card:Mic: 48000 Hz")]

    private func recorder(_ findings: [Finding]) throws -> DeskRecorder {
        let recorder = try DeskRecorder()
        recorder.received.findings.withLock { $0 = findings }
        return recorder
    }

    private func machine(
        doctor: [Finding] = [], programs: Finding = .ok(.programs, "none"),
        lamps: [(Lamp, String?)] = []
    ) -> LocalAccess {
        LocalAccess(
            places: { _ in
                var places = LocalAccess.Places()
                places.recorderSocket = "/nowhere/recorder.sock"
                return places
            }, problems: { _ in [] }, list: { _, _ in [] }, doctor: { _ in doctor }, programs: { programs },
            lightLamps: { _, isLit throws(Failure) in for (lamp, failure) in lamps { try isLit(lamp, failure) } })
    }

    @Test func `findings of the recorder and of the command are listed together, a line each`() throws {
        let result = run(["doctor"], at: try recorder(healthy), access: machine())
        // The simulated recorder has another version.
        #expect(
            result.output == [
                "ok    settings  nothing is wrong",
                "warn  service   the recorder is version 0, this command \(fieldfareVersion): restart the recorder",
                "ok    card      card:Mic: 48000 Hz", "ok    programs  none",
            ])
        #expect(result.status == 0)
        #expect(result.complaints == [])
    }

    @Test func `the exit status is that of the first failure, warnings have none`() throws {
        let clock = Finding.failure(.clock, "not set", exitStatus: 65)
        let card = Finding.failure(.card, "held", exitStatus: 75)
        let result = run(
            ["doctor"], at: try recorder([clock, card]), access: machine(programs: .warning(.programs, "pipewire")))
        #expect(result.status == 75)
        #expect(result.complaints == ["doctor: 2 failures to repair"])
        #expect(
            result.output.dropFirst() == [
                "FAIL  card      held", "FAIL  clock     not set", "warn  programs  pipewire",
            ])
        #expect(
            run(["doctor"], at: try recorder([clock]), access: machine()).complaints == ["doctor: 1 failure to repair"])
    }

    @Test func `JSON holds all findings and the exit status`() throws {
        let result = run(
            ["--json", "doctor"], at: try recorder([.failure(.signal, "dead", ["frames": .number(96000)])]),
            access: machine())
        #expect(result.status == 74)
        let json = try JSONValue(decoding: Array(result.output[0].utf8))
        #expect(json["exit_status"] == .integer(74))
        guard case .array(let findings)? = json["findings"] else {
            Issue.record("no findings")
            return
        }
        #expect(findings.map { $0["subject"] } == [.string("service"), .string("signal"), .string("programs")])
        #expect(findings[1]["figures"]?["frames"] == .integer(96000))
    }

    @Test func `while the recorder is down the command looks itself`() {
        let result = run(["doctor"], access: machine(doctor: healthy))
        #expect(result.status == 69)
        #expect(result.output.count == 4)
        #expect(result.output[1].hasPrefix("FAIL  service   the recorder is not running"))
    }

    @Test func `each lamp that there is is lit and asked for, before the findings`() throws {
        let recorder = try recorder(healthy)
        let result = run(["doctor", "--leds"], at: recorder, access: machine())
        #expect(
            result.output.prefix(4) == [
                "record lamp is lit: did you see it?", "play lamp is lit: did you see it?",
                "fault lamp is lit: did you see it?", "the lamp for all is lit: did you see it?",
            ])
        #expect(recorder.received.lit.withLock { $0 } == ["record", "play", "upload", "fault", "all"])
        #expect(result.output.count == 8)
    }

    @Test func `where a program reads the output the lamps are named on standard error`() throws {
        let result = run(["--json", "doctor", "--leds"], at: try recorder(healthy), access: machine())
        #expect(result.output.count == 1)
        #expect(result.complaints.count == 4)
    }

    @Test func `lamps that show a take are not lit alone, and the rest is checked`() throws {
        let recorder = try recorder(healthy)
        recorder.received.isRecording.withLock { $0 = true }
        let result = run(["doctor", "--leds"], at: recorder, access: machine())
        #expect(result.status == 0)
        #expect(result.output.firstIndex(of: "light: a take is recorded") == 2)
        #expect(result.output.count == 7)
    }

    @Test func `without a recorder the lamps are lit by the command, and one that cannot be lit is reported`() {
        let access = machine(doctor: healthy, lamps: [(.record, nil), (.play, "lamps: GPIO6: busy")])
        let result = run(["doctor", "--leds"], access: access)
        #expect(result.output.prefix(2) == ["record lamp is lit: did you see it?", "lamps: GPIO6: busy"])
    }

    @Test func `a severity has its colour on a terminal alone`() {
        let text = DoctorText(isColoured: true)
        #expect(text.line(.ok(.card, "x")) == "\u{1B}[32mok\u{1B}[0m    card      x")
        #expect(text.line(.warning(.card, "x")) == "\u{1B}[33mwarn\u{1B}[0m  card      x")
        #expect(text.line(.failure(.card, "x")) == "\u{1B}[31mFAIL\u{1B}[0m  card      x")
    }
}
