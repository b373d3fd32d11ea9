import Takes
import Testing

@testable import Workers

/// A clock that stands still.
private struct StoppedClock: Clock {
    func now() -> Instant { Instant(nanoseconds: 5) }
    func wallTime() -> WallTime { WallTime(microseconds: 0) }
}

@Suite struct WorkerTests {
    private func doubling() -> Worker<Int, Int> {
        Worker(clock: StoppedClock()) { orders, now, outcomes in
            for order in orders { outcomes.post(2 * order) }
            return orders.isEmpty ? nil : now
        }
    }

    @Test func `a step carries out what was ordered in its order, and says when the next is due`() {
        let worker = doubling()
        worker.post(3)
        worker.post(4)
        #expect(worker.outcomes() == [])
        #expect(worker.step() == Instant(nanoseconds: 5))
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

    @Test func `a quiet message is taken with the next one, and does not wake the thread`() {
        let mailbox = Mailbox<Int>()
        mailbox.postQuietly(1)
        mailbox.wait(nanoseconds: 0)
        mailbox.post(2)
        #expect(mailbox.take() == [1, 2])
    }
}
