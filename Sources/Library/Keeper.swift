import Catalog
import Control
import Logging
import ServiceLifecycle
import Settings
import TakeFiles
import Takes
import Workers

/// Has takes deleted from the kit that every store has, whole and verified by hash, as `keep_local` says. The recorder deletes them.
actor Keeper: ServiceLifecycle.Service {
    private let policy: Settings.Outbox.KeepLocal
    private let catalogs: CatalogSlot
    private let recorder: RecorderLink
    private let log: Logger
    private let executor: ThreadExecutor
    private nonisolated let looks: AsyncStream<Void>
    private nonisolated let mailbox: AsyncStream<Void>.Continuation
    /// Takes that the recorder was asked to delete since it was looked last.
    private var asked: Set<String> = []
    /// Why takes were not deleted, by stem: each reason is logged once.
    private var reported: [String: String] = [:]
    private var reportedOfRecorder = ""

    /// What can be recorded without a pause: below it, space is freed.
    static let leastSeconds = 600
    /// How often it looks while a long take fills the disk.
    private static let interval = Duration.seconds(60)

    nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe executor.asUnownedSerialExecutor() }

    init(_ policy: Settings.Outbox.KeepLocal, _ catalogs: CatalogSlot, recorder: RecorderLink, log: Logger) throws {
        self.policy = policy
        self.catalogs = catalogs
        self.recorder = recorder
        self.log = log
        executor = try ThreadExecutor(name: "keeper")
        (looks, mailbox) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
    }

    /// Looks soon. May be called by any thread.
    nonisolated func look() { mailbox.yield() }

    /// Frees space until the library is to end.
    func run() async throws {
        let timer = Task { [mailbox] in
            while true {
                try await Task.sleep(for: Self.interval)
                mailbox.yield()
            }
        }
        defer { timer.cancel() }
        await withGracefulShutdownHandler {
            for await _ in looks { await free() }
        } onGracefulShutdown: {
            self.mailbox.finish()
        }
    }

    private func free() async {
        asked = []
        while await isNeeded(), let take = nextTake() {
            do throws(ControlError) {
                try await recorder.discard(take.take.stem)
                reported[take.take.stem] = nil
                log.notice("outbox: \(take.take.stem): deleted from the kit: every store has it")
            } catch {
                guard case .refused = error.cause else {
                    // No recorder: it would delete no other take either.
                    if reportedOfRecorder != "\(error)" {
                        log.info("outbox: no take is deleted from the kit: \(error)")
                    }
                    reportedOfRecorder = "\(error)"
                    return
                }
                // It is played, for instance.
                if reported[take.take.stem] != "\(error)" {
                    log.info("outbox: \(take.take.stem): not deleted from the kit: \(error)")
                }
                reported[take.take.stem] = "\(error)"
            }
            reportedOfRecorder = ""
            asked.insert(take.take.stem)
        }
    }

    private func isNeeded() async -> Bool {
        switch policy {
        case .always: false
        case .untilUploaded: true
        case .untilNeeded: await recorder.secondsLeft.map { $0 < Self.leastSeconds } ?? false
        }
    }

    /// The next take that may go: what the database says is compared with the receipts and with the sidecar that is on the disk now.
    private func nextTake() -> QueuedUpload? {
        var found: QueuedUpload?
        attempt {
            let catalog = catalogs.catalog
            let takes = try catalog.sentTakes(limit: 20 + asked.count)
            found = try takes.first { take in
                guard !asked.contains(take.take.stem) else { return false }
                let notes = try catalog.notes(of: take.take.stem)
                guard let sidecar = try? TakesFolder(path: take.folder).sidecar(of: take.take) else { return false }
                return !catalog.stores.isEmpty && catalog.stores.allSatisfy { notes.isComplete(sidecar, in: $0) }
            }
        }
        return found
    }

    private func attempt(_ body: () throws -> Void) {
        do {
            try body()
        } catch {
            log.error("outbox: \(error)")
        }
    }
}

extension TakeNotes {
    /// Whether a store has all of a take, by this sidecar.
    func isComplete(_ sidecar: Sidecar, in store: String) -> Bool {
        guard let receipt = self[receiptOf: store], receipt.isComplete(revision: sidecar.revision) else { return false }
        return sidecar.pendingFormat == nil && sidecar.audioFiles.allSatisfy { receipt.sha256(of: $0) != nil }
    }
}
