import Glibc
import ServiceManager
import Takes
import TestBench
import Testing

@testable import Recorder

@Suite struct SupervisorTests {
    private let manager = MadeUpManager(MadeUpManager.name("@"))

    private func supervisor(
        _ environment: [String: String] = [:], calls: NotifyCalls = NotifyCalls()
    ) -> Supervisor {
        let environment = ["NOTIFY_SOCKET": manager.address].merging(environment) { $1 }
        return Supervisor(
            environment: { environment[$0] }, now: instant(0), log: Log(isJournal: false), calls: calls)
    }

    private func instant(_ seconds: Int64) -> Instant { Instant(nanoseconds: seconds * 1_000_000_000) }

    @Test func `readiness is reported with the first turn, the status when it changes, the watchdog at half its time`()
    {
        var supervisor = supervisor(["WATCHDOG_USEC": "20000000", "WATCHDOG_PID": "\(getpid())"])
        let trace = [(0, 1, "armed"), (4, 2, "armed"), (5, 3, "recording"), (10, 4, "recording"), (21, 4, "recording")]
            .map { (second: Int64, position: Int64, summary: String) in
                let next = supervisor.turn(instant(second), position: position, summary: summary)
                return "\(manager.received()) \(next.map { "\(Int(($0 - instant(0)).inSeconds))" } ?? "-")"
            }
        supervisor.ending()
        #expect(
            trace == [
                "[\"READY=1\\nSTATUS=armed\", \"WATCHDOG=1\"] 10", "[] 10", "[\"STATUS=recording\"] 10",
                "[\"WATCHDOG=1\"] 20", "[] -",
            ])
        #expect(manager.received() == ["STOPPING=1"])
    }

    @Test func `what could not be sent is sent at the next turn`() {
        var supervisor = supervisor(["WATCHDOG_USEC": "20000000"], calls: failing(EAGAIN, EAGAIN, EAGAIN))
        var received: [[String]] = []
        for second in 0..<3 as Range<Int64> {
            _ = supervisor.turn(instant(second), position: second, summary: "armed")
            received.append(manager.received())
        }
        #expect(received == [[], ["WATCHDOG=1"], ["READY=1\nSTATUS=armed"]])
    }

    @Test(arguments: [
        [:], ["WATCHDOG_USEC": ""], ["WATCHDOG_USEC": "0"], ["WATCHDOG_USEC": "-1"], ["WATCHDOG_USEC": "soon"],
        ["WATCHDOG_USEC": "20000000", "WATCHDOG_PID": "1"],
    ])
    func `a watchdog that there is not, or that is another process's, is not fed`(_ environment: [String: String]) {
        var supervisor = supervisor(environment)
        let next = supervisor.turn(instant(100), position: 1, summary: "armed")
        #expect(next == nil)
        #expect(manager.received() == ["READY=1\nSTATUS=armed"])
    }

    @Test(arguments: [[:], ["NOTIFY_SOCKET": "vsock:2:1", "WATCHDOG_USEC": "20000000"]])
    func `without a manager nothing is sent, and nothing is waited for`(_ environment: [String: String]) {
        var supervisor = Supervisor(
            environment: { environment[$0] }, now: instant(0), log: Log(isJournal: false))
        let next = supervisor.turn(instant(1), position: nil, summary: "armed")
        supervisor.ending()
        #expect(next == nil)
    }
}
