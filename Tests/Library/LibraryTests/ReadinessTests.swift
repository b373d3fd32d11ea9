import DiskCalls
import Logging
import Takes
import TestBench
import Testing

@testable import Library

@Suite(.waitsOnNamedThreads, .timeLimit(.minutes(5))) struct ReadinessTests {
    private let log = KeptLog()

    private func readiness(_ address: String?) -> Readiness {
        let log = log
        return Readiness(log: Logger(label: "test") { _ in log }, address: address)
    }

    @Test func `a start that advances is given more time, and one that hangs is not`() async throws {
        let manager = MadeUpManager(MadeUpManager.name("@"))
        let used = Locked(Duration.seconds(5))
        let (looks, look) = AsyncStream.makeStream(of: Void.self)
        let (pauses, pause) = AsyncStream.makeStream(of: Void.self)
        let received = try await readiness(manager.address).starting(
            pause: {
                pause.yield()
                for await _ in looks { return }
                throw CancellationError()
            },
            used: { used.withLock { $0 } },
            {
                var begun = pauses.makeAsyncIterator()
                _ = await begun.next()
                var received: [[String]] = []
                for milliseconds in [500, 0, 9, 10] {
                    used.withLock { $0 += .milliseconds(milliseconds) }
                    look.yield()
                    // Before the next pause, it has looked.
                    _ = await begun.next()
                    received.append(manager.received())
                }
                return received
            })
        let more = ["EXTEND_TIMEOUT_USEC=180000000"]
        #expect(received == [more, [], [], more] && log.lines == [])
    }

    @Test func `a library without a service manager starts`() async throws {
        #expect(try await readiness(nil).starting { 7 } == 7)
        #expect(log.lines == [])
    }

    @Test func `a service manager that is gone is reported, and the library starts`() async throws {
        let name = MadeUpManager.name("@")
        let used = Locked(Duration.zero)
        let (looks, look) = AsyncStream.makeStream(of: Void.self)
        let (pauses, pause) = AsyncStream.makeStream(of: Void.self)
        let result = try await readiness(name).starting(
            pause: {
                pause.yield()
                for await _ in looks { return }
                throw CancellationError()
            },
            used: {
                used.withLock { used in
                    used += .seconds(1)
                    return used
                }
            },
            {
                var begun = pauses.makeAsyncIterator()
                _ = await begun.next()
                look.yield()
                _ = await begun.next()
                return 8
            })
        #expect(result == 8 && log.lines.map { $0.contains("cannot send: Connection refused") } == [true])
    }

    @Test func `the processor time of this process grows with its work`() {
        let start = StartProgress.processorTime()
        var (sum, rounds) = (0, 0)
        while StartProgress.processorTime() - start < .milliseconds(10), rounds < 1_000_000 {
            rounds += 1
            sum &+= (0..<1000).reduce(0, ^)
        }
        #expect(rounds < 1_000_000 && sum == 0)
        var progress = StartProgress(start)
        let hasAdvanced = progress.advances(StartProgress.processorTime())
        #expect(hasAdvanced)
    }
}
