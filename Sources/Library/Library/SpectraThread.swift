import Catalog
import Logging
import ServiceLifecycle
import Takes
import Workers

/// Runs `SpectraWork` on a thread that gets only the time that no other thread needs.
///
/// It is not an actor. Swift's runtime may start a shared thread from any thread that resumes a task, and the new thread
/// inherits the idle priority, which it cannot leave. It would then serve browsers slowly.
final class SpectraThread: ServiceLifecycle.Service, Sendable {
    private enum Order { case look }

    private let desk: SpectraDesk
    private let worker: Locked<Worker<Order, Never>?>

    init(
        _ desk: SpectraDesk, _ catalogs: CatalogSlot, isScanned: @escaping @Sendable () -> Bool,
        clock: any Clock = SystemClock(), log: Logger
    ) {
        self.desk = desk
        let work = SpectraWork(desk, catalogs, isScanned: isScanned, log: log)
        worker = Locked(Worker<Order, Never>(clock: clock) { _, now, _ in work.turn(now) })
        catalogs.catalog.changes.watch { [desk] change in
            switch change {
            case .removed: desk.add(.tidy)
            // A storage with takes that were compared before, for example.
            case .many: desk.add(.search)
            case .added, .revised: break
            }
        }
    }

    /// Works until shutdown.
    func run() async throws {
        try worker.withLock { worker in
            desk.onWork { [self] in post() }
            try worker?.start(name: "spectra", priority: .idle)
        }
        try? await gracefulShutdown()
        desk.onWork {}
        // The thread ends with its worker, after the current slice. It may be about to post.
        _ = worker.withLock { worker in
            defer { worker = nil }
            return worker
        }
    }

    private func post() { worker.withLock { $0?.post(.look) } }
}
