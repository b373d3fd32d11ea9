import Dispatch
import Testing

/// Has the suites of running kits follow each other, on threads of their own: their tests wait for programs, and Swift's own threads, of
/// which there are as many as processors, are for other tests.
struct OneKitAtATime: SuiteTrait, TestScoping {
    private static let place = Place()
    private static let threads = Threads()

    func provideScope(
        for test: Test, testCase: Test.Case?, performing function: @Sendable () async throws -> Void
    ) async throws {
        await Self.place.enter()
        do {
            try await withTaskExecutorPreference(Self.threads) { try await function() }
        } catch {
            await Self.place.leave()
            throw error
        }
        await Self.place.leave()
    }

    private final class Threads: TaskExecutor {
        private let queue = DispatchQueue(label: "kits", attributes: .concurrent)

        func enqueue(_ job: consuming ExecutorJob) {
            let job = UnownedJob(job)
            queue.async { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
        }
    }

    private actor Place {
        private var isTaken = false
        private var waiting: [CheckedContinuation<Void, Never>] = []

        func enter() async {
            guard isTaken else {
                isTaken = true
                return
            }
            await withCheckedContinuation { waiting.append($0) }
        }

        func leave() {
            if waiting.isEmpty { isTaken = false } else { waiting.removeFirst().resume() }
        }
    }
}

extension Trait where Self == OneKitAtATime {
    /// The suite runs real programs.
    static var oneKitAtATime: Self { OneKitAtATime() }
}
