package import TakeFiles
package import Takes
package import Workers

/// Runs syncs on a thread of its own, so that a storage that stalls holds up neither the writer nor the panel.
package typealias SyncWorker = Worker<SyncPoint, Synced>

extension SyncWorker {
    /// A sync worker without a thread yet.
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

    /// Whether a sync is under way.
    var isBusy: Bool { pending > 0 }

    mutating func start(_ point: SyncPoint) {
        pending += 1
        worker.post(point)
    }

    /// The outcomes since the last call.
    mutating func outcomes() -> [Synced] {
        let outcomes = worker.outcomes()
        pending -= outcomes.count
        return outcomes
    }

    /// Waits for the sync that is under way.
    /// - Returns: the outcomes since the last call.
    mutating func settle() -> [Synced] {
        var all = outcomes()
        while isBusy {
            if worker.hasThread { worker.wait() } else { _ = worker.step() }
            // The mailbox may seem to have an outcome that was taken already, so only what was collected counts.
            all += outcomes()
        }
        return all
    }
}
