import Settings
import Testing
import Transport

@testable import Doctor

@Suite struct ExaminationTests {
    private func signalFailures(_ sentence: String) -> [String] {
        var examination = Examination(isRecorder: true, settings: Settings(), problems: [])
        examination.faults = [Fault(.signal, sentence)]
        return examination.findings().filter { $0.subject == .signal && $0.severity == .failure }.map(\.message)
    }

    @Test func `a kit that has no key that it could keep is told so`() {
        var examination = Examination(isRecorder: true, settings: Settings(), problems: [])
        examination.keyProblem = "kit id: /nowhere: Read-only file system"
        #expect(examination.findings().contains(.warning(.storage, "kit id: /nowhere: Read-only file system")))
    }

    @Test func `a signal that fell is known by the recorder, and what two seconds show is not repeated`() {
        let fall = SignalFall(decibels: 51, when: "at 06:18", channels: [1])
        let sentence = "signal: card:Mic: \(fall.complaint)"
        #expect(signalFailures(sentence) == [sentence])
        #expect(signalFailures("signal: card:Mic: clipped on channel 2: turn the gain down") == [])
    }

    @Test func `a kit's name in which programs may read a date is warned of`() {
        var settings = Settings()
        for (name, count) in [("heron07", 0), ("heron-123456", 1)] {
            settings.kit.name = name
            let warnings = Examination(isRecorder: true, settings: settings, problems: []).findings().filter {
                $0.severity == .warning && $0.message.contains("the kit's name \(name)")
            }
            #expect(warnings.count == count)
        }
    }
}
