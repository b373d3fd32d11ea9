package import TakeFiles
package import Takes
package import Workers

/// Runs syncs on its own thread, so that a stalling storage blocks neither the writer nor the panel.
package typealias SyncWorker = Worker<SyncPoint, Synced>

extension SyncWorker {
    /// A sync worker that has no thread yet.
    package convenience init(syncsBy clock: any Clock) {
        self.init(clock: clock) { points, _, outcomes in
            for point in points { outcomes.post(point.run()) }
            return nil
        }
    }
}

/// The writer's side of the sync worker: one sync at a time.
struct SyncQueue {
    private let worker: SyncWorker
    private var pending = 0

    init(_ worker: SyncWorker) {
        self.worker = worker
    }

    var isBusy: Bool { pending > 0 }

    mutating func start(_ point: SyncPoint) {
        pending += 1
        worker.post(point)
    }

    mutating func outcomes() -> [Synced] {
        let outcomes = worker.outcomes()
        pending -= outcomes.count
        return outcomes
    }

    /// Waits for the running sync.
    /// - Returns: the outcomes since the last call.
    mutating func settle() -> [Synced] {
        var all = outcomes()
        while isBusy {
            if worker.hasThread { worker.wait() } else { _ = worker.step() }
            // The mailbox may signal an outcome that was taken already, so only collected ones count.
            all += outcomes()
        }
        return all
    }
}
