import Dispatch
import Testing

/// Lets three suites of running kits run at a time, on their own threads. Their tests wait for programs, and Swift's
/// own threads, one for each processor, are for other tests.
struct FewKitsAtATime: SuiteTrait, TestScoping {
    private static let places = Places(3)
    private static let threads = Threads()

    func provideScope(
        for test: Test, testCase: Test.Case?, performing function: @Sendable () async throws -> Void
    ) async throws {
        await Self.places.enter()
        do {
            try await withTaskExecutorPreference(Self.threads) { try await function() }
        } catch {
            await Self.places.leave()
            throw error
        }
        await Self.places.leave()
    }

    private final class Threads: TaskExecutor {
        private let queue = DispatchQueue(label: "kits", attributes: .concurrent)

        func enqueue(_ job: consuming ExecutorJob) {
            let job = UnownedJob(job)
            queue.async { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
        }
    }

    private actor Places {
        private var free: Int
        private var waiting: [CheckedContinuation<Void, Never>] = []

        init(_ count: Int) {
            free = count
        }

        func enter() async {
            guard free == 0 else {
                free -= 1
                return
            }
            await withCheckedContinuation { waiting.append($0) }
        }

        func leave() {
            if waiting.isEmpty { free += 1 } else { waiting.removeFirst().resume() }
        }
    }
}

extension Trait where Self == FewKitsAtATime {
    /// The suite runs real programs.
    static var fewKitsAtATime: Self { FewKitsAtATime() }
}
