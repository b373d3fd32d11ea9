import Glibc
package import Ring
import Takes

/// What became of a sync.
package struct SyncResult: Sendable {
    /// Why it failed; nil: it did not.
    var error: (any Error)?
}

/// One sync that can be run on any thread.
package struct SyncJob: Sendable {
    var run: @Sendable () throws -> Void
}

/// Runs syncs, one at a time, away from the thread that writes.
package protocol Syncing: AnyObject {
    /// Whether a sync is under way.
    var isBusy: Bool { get }
    func start(_ job: SyncJob)
    /// The results since the last call.
    func results() -> [SyncResult]
    /// Waits for the sync that is under way.
    func finish()
}

/// Runs syncs on a thread of its own, so that a storage that stalls holds up neither the writer nor the panel.
package final class SyncThread: Syncing {
    private let jobs = Mailbox<SyncJob?>()
    let done = Mailbox<SyncResult>()
    private var thread: Thread?

    // Of the thread that starts the syncs.
    private var pending = 0
    private var collected: [SyncResult] = []

    package init() throws(ThreadError) {
        thread = try Thread(name: "sync") { [jobs, done] in
            while true {
                jobs.wait(nanoseconds: nil)
                for job in jobs.take() {
                    guard let job else { return }
                    var failure: (any Error)?
                    do { try job.run() } catch { failure = error }
                    done.post(SyncResult(error: failure))
                }
            }
        }
    }

    deinit {
        jobs.post(nil)
        thread?.join()
    }

    package var isBusy: Bool { pending > 0 }

    package func start(_ job: SyncJob) {
        pending += 1
        jobs.post(job)
    }

    package func results() -> [SyncResult] {
        collect()
        defer { collected = [] }
        return collected
    }

    package func finish() {
        // The mailbox may seem to have a letter that was taken already, so only what was collected counts.
        while isBusy {
            done.wait(nanoseconds: nil)
            collect()
        }
    }

    private func collect() {
        let results = done.take()
        pending -= results.count
        collected += results
    }
}
