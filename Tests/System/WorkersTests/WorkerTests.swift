import Glibc
import Takes
import TestBench
import Testing

@testable import Workers

@Suite struct WorkerTests {
    private let clock = TestClock()

    private func doubling() -> Worker<Int, Int> {
        Worker(clock: clock) { orders, now, outcomes in
            for order in orders { outcomes.post(2 * order) }
            return orders.isEmpty ? nil : now
        }
    }

    @Test func `a step carries out what was ordered in its order, and says when the next is due`() {
        let worker = doubling()
        worker.post(3)
        worker.post(4)
        #expect(worker.outcomes() == [])
        #expect(worker.step() == clock.now())
        #expect(worker.step() == nil)
        #expect(worker.outcomes() == [6, 8])
        #expect(worker.outcomes() == [])
    }

    @Test func `a thread carries out orders without calls of step, and ends with its worker`() throws {
        var worker: Worker<Int, Int>? = doubling()
        try worker?.start(name: "doubling")
        for order in 1...100 { worker?.post(order) }
        var outcomes: [Int] = []
        while outcomes.count < 100 {
            worker?.wait()
            outcomes += worker?.outcomes() ?? []
        }
        #expect(outcomes == (1...100).map { 2 * $0 })
        worker = nil
    }

    /// SCHED_IDLE of `sched(7)`, which is declared only with _GNU_SOURCE.
    private static let schedIdle: Int32 = 5

    @Test(
        arguments: [(.normal, 0, SCHED_OTHER), (.low, 10, SCHED_OTHER), (.idle, 0, schedIdle)]
            as [(Worker<Int, Int>.Priority, Int, Int32)])
    func `a thread has its worker's priority`(priority: Worker<Int, Int>.Priority, lower: Int, policy: Int32) throws {
        let process = Int32(PRIO_PROCESS.rawValue)
        let before = Int(getpriority(process, 0))
        let worker = Worker<Int, Int>(clock: clock) { orders, _, outcomes in
            for _ in orders {
                outcomes.post(Int(getpriority(process, 0)))
                outcomes.post(Int(sched_getscheduler(0)))
            }
            return nil
        }
        try worker.start(name: "priority", priority: priority)
        worker.post(0)
        var outcomes: [Int] = []
        while outcomes.count < 2 {
            worker.wait()
            outcomes += worker.outcomes()
        }
        #expect(outcomes == [min(before + lower, 19), Int(policy)])
    }

    @Test func `a quiet message is taken with the next one, and does not wake the thread`() {
        let mailbox = Mailbox<Int>()
        mailbox.postQuietly(1)
        mailbox.wait(nanoseconds: 0)
        mailbox.post(2)
        #expect(mailbox.take() == [1, 2])
    }
}
