import Catalog
import FinishedTakes
import Glibc
import Logging
import Settings
import StoreTrials
import Synchronization
import TakeFiles
import Takes
import Testing
import Transport
import Upload

@testable import Library

/// A folder store that first fails with the given errors, and always fails for some takes.
final class FailingStore: FolderFront {
    let folder: FolderStore
    private let failures: Mutex<[StoreError]>
    private let failing: [String: StoreError]
    private let failingAttempts = Mutex(0)
    private let order = Mutex<[String]>([])

    /// - Parameter failing: the takes that always fail, by stem.
    init(_ folder: FolderStore, failures: [StoreError] = [], failing: [String: StoreError] = [:]) {
        self.folder = folder
        self.failures = Mutex(failures)
        self.failing = failing
    }

    /// The takes whose sidecars arrived, in order.
    var came: [String] { order.withLock { $0 } }
    /// The number of attempts with takes that always fail.
    var failingAttemptCount: Int { failingAttempts.withLock { $0 } }

    func put(
        _ source: UploadSource, _ checksum: (any Checksum)?, as object: ObjectName, _ metadata: ObjectMetadata,
        mode: PutMode, report: @escaping @Sendable (PutProgress) -> Void
    ) async throws -> StoredObject {
        if let error = failures.withLock({ $0.isEmpty ? nil : $0.removeFirst() }) { throw error }
        if let error = object.take.flatMap({ failing[$0.stem] }) {
            failingAttempts.withLock { $0 += 1 }
            throw error
        }
        let stored = try await folder.put(source, checksum, as: object, metadata, mode: mode, report: report)
        if object.isSidecar { order.withLock { $0.append(metadata.title) } }
        return stored
    }
}

/// A sender with its catalog and its target folder.
struct TestedSender {
    let disk = TakesOnDisk()
    let log = KeptLog()
    let catalogs: CatalogSlot
    let board: OutboxBoard
    let store: FailingStore
    let sender: Sender
    let storage: Storage
    let number: Int64
    /// The state of the upload lamp after each change of the board.
    let changes: AsyncStream<UploadState>
    var home: String { "\(disk.path)/home" }

    init(failures: [StoreError] = [], failing: [String: StoreError] = [:], isThere: Bool = true) throws {
        let home = "\(disk.path)/home"
        if isThere { mkdir(home, 0o755) }
        store = FailingStore(
            try FolderStore(name: "folder:home", path: home, kit: "heron07"), failures: failures,
            failing: failing)
        catalogs = CatalogSlot(try Catalog.open(in: disk.library, stores: [store.name]).0)
        storage = try #require(Storage(at: disk.takes))
        number = try #require(try catalogs.catalog.setPresent([storage])[storage])
        let (changes, changed) = AsyncStream.makeStream(of: UploadState.self)
        self.changes = changes
        board = OutboxBoard { changed.yield($0) }
        let log = log
        let logger = Logger(label: "test") { _ in log }
        sender = try Sender(
            Stores.Entry(store: store, plan: StorePlan(name: store.name) { [store] in store }), catalogs, board: board,
            window: .always, reader: try DiskReader(name: "reader"),
            throttle: nil, log: logger)
    }

    @discardableResult
    func add(_ sidecar: Sidecar) throws -> String {
        let name = try disk.add(sidecar, audioBytes: 2000)
        try index(name)
        return name.stem
    }

    func index(_ name: TakeName) throws {
        let take = try StoredTake(name, in: TakesFolder(path: disk.takes))
        #expect(try catalogs.catalog.index([take], on: number, at: disk.takes).isEmpty)
        sender.post(.takes)
    }

    func counts() throws -> OutboxCounts { try catalogs.catalog.outboxCounts(of: store.name) }

    /// Runs the sender until `holds` is true.
    func run(until holds: () throws -> Bool) async throws {
        let running = Task { try await sender.run() }
        for await _ in changes where try holds() { break }
        running.cancel()
        _ = try? await running.value
    }
}
