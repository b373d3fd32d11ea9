import DiskCalls
import OtherPrograms
import StoreTrials
import TestBench
import Testing

/// What people do on the pages, with one finger on a phone. `Resources/tasks.py` says how many taps each task may have,
/// and prints how many it had.
@Suite(.waitsOnNamedThreads, .serialized, .fewKitsAtATime, .timeLimit(.minutes(15)), .needs(.curl))
struct TasksTests {
    @Test(.needsServers, .needs(.chromium))
    func `a person finds, hears, names, cuts, sends and deletes takes of a week in few taps`() throws {
        let tasks = ["loudest", "last_ten", "safe", "name_three", "tuesday", "free_space", "clip", "clock"]
        let (status, report) = try BusyMachine.repeating("tasks.py") {
            let kit = try RunningKit(sends: true)
            let arguments = [String(kit.library.port), kit.token, try FieldWeek(on: kit).json] + tasks
            return try kit.run("python", [RunningKit.resource("tasks.py")] + arguments)
        }
        print(report)
        #expect(status == 0, "\(report.suffix(4000))")
    }

    @Test(.needsServers, .needs(.chromium)) func `a person pairs a second phone in few taps`() throws {
        let (status, report) = try BusyMachine.repeating("tasks.py") {
            let kit = try PhonesKit()
            kit.recorder.holdPlay()
            let token = try Curl.token(of: kit.pair("Anna", kit.code))
            kit.recorder.holdPlay()
            let arguments = [String(kit.library.port), token, #"{"zone":"Etc/GMT"}"#, "second_phone"]
            return try withExtendedLifetime(kit) {
                try RunningKit.run("python", [RunningKit.resource("tasks.py")] + arguments, in: kit.folder)
            }
        }
        print(report)
        #expect(status == 0, "\(report.suffix(4000))")
    }
}
