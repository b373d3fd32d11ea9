import Catalog
import Takes
import Workers

/// The takes that a scan has read, on their way to the catalog. A batch of them is cataloged by another thread while the
/// scan reads the next one. Not thread-safe.
final class ScannedTakes {
    private typealias Outcome = Result<[Catalog.IndexFailure], any Error>

    private let worker: Worker<[StoredTake], Outcome>
    private let progress: ScanProgress
    private let report: (String) -> Void
    private var batch = Batch()
    /// The stems of the batch that is being cataloged.
    private var underWay: Set<String> = []

    /// The takes of one transaction: enough to make the sync cheap, few enough to need little memory.
    private struct Batch {
        private(set) var takes: [StoredTake] = []
        private(set) var stems: Set<String> = []
        private var byteCount = 0

        var isFull: Bool { takes.count >= 200 || byteCount >= 1 << 20 }

        mutating func add(_ take: StoredTake) {
            takes.append(take)
            stems.insert(take.name.stem)
            byteCount += take.json.count
        }
    }

    init(of scan: FolderScan) {
        (progress, report) = (scan.progress, scan.report)
        let (catalog, number, path) = (scan.catalog, scan.number, scan.storage.path)
        worker = Worker(clock: SystemClock()) { batches, _, outcomes in
            for batch in batches { outcomes.post(Outcome { try catalog.index(batch, on: number, at: path) }) }
            return nil
        }
    }

    /// Whether the catalog may lack one of these takes although it was read.
    func contains(anyOf stems: some Sequence<String>) -> Bool {
        stems.contains { batch.stems.contains($0) || underWay.contains($0) }
    }

    /// - Throws: errors of the database.
    func add(_ take: StoredTake) throws {
        batch.add(take)
        guard batch.isFull else { return }
        try endBatch()
        // If the system grants no thread, the scan only takes longer.
        if !worker.hasThread { try? worker.start(name: "catalog") }
        beginBatch()
    }

    /// When this returns, the catalog has all takes.
    /// - Throws: errors of the database.
    func finish() throws {
        try endBatch()
        guard !batch.takes.isEmpty else { return }
        beginBatch()
        try endBatch()
    }

    private func beginBatch() {
        worker.post(batch.takes)
        (underWay, batch) = (batch.stems, Batch())
        // Few takes need no thread.
        if !worker.hasThread { _ = worker.step() }
    }

    private func endBatch() throws {
        guard !underWay.isEmpty else { return }
        defer { underWay = [] }
        var outcomes = worker.outcomes()
        while outcomes.isEmpty {
            worker.wait()
            outcomes = worker.outcomes()
        }
        for outcome in outcomes {
            let failures = try outcome.get()
            for stem in underWay { progress.settle(stem) }
            for failure in failures {
                progress.note(failure.description, of: failure.take)
                report("library: \(failure)")
            }
        }
    }
}
