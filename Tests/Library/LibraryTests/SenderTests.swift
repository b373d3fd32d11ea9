import Catalog
import Control
import DiskCalls
import FinishedTakes
import Foundation
import Logging
import OtherPrograms
import ServiceLifecycle
import Settings
import StoreTrials
import Synchronization
import TakeFiles
import Takes
import Testing
import Transport
import Upload

@testable import Library

/// A store that does not answer until it is cancelled.
private final class SilentStore: ServerStore {
    let name = "silent"
    /// Yields at each request.
    let begun: AsyncStream<Void>
    private let asked: AsyncStream<Void>.Continuation
    private let count = Mutex(0)
    var wasAsked: Bool { count.withLock { $0 > 0 } }

    enum Silence {
        case all
        /// `head` finds no files, and `tidy` succeeds. All other requests get no answer.
        case puts
    }

    private let silence: Silence

    init(silent: Silence = .all) {
        silence = silent
        (begun, asked) = AsyncStream.makeStream()
    }

    private func wait() async throws -> Never {
        count.withLock { $0 += 1 }
        asked.yield()
        while true { try await Task.sleep(for: .seconds(3600)) }
    }

    func put(
        _ source: UploadSource, _ checksum: (any Checksum)?, as object: ObjectName, _ metadata: ObjectMetadata,
        mode: PutMode, report: @escaping @Sendable (PutProgress) -> Void
    ) async throws -> StoredObject { try await wait() }
    func head(_ object: ObjectName) async throws -> StoredObject? {
        switch silence {
        case .all: try await wait()
        case .puts: return nil
        }
    }
    func list(_ receive: ([StoredObject]) async throws -> Void) async throws { try await wait() }
    func get(_ object: ObjectName, _ receive: ([UInt8]) async throws -> Void) async throws { try await wait() }
    func delete(_ object: ObjectName) async throws { try await wait() }
    func tidy() async throws { if silence == .all { try await wait() } }
}

@Suite(.waitsOnNamedThreads, .timeLimit(.minutes(15))) struct SenderTests {
    static func sidecar(_ number: Int) -> Sidecar {
        TakesOnDisk.sidecar(number, started: TakesOnDisk.morning + .seconds(60 * number))
    }

    private static let conflict = StoreError(.conflict, "outbox: another file is there")

    @Test func `takes are sent, the starred one first, then the oldest, and the receipts outlive the database`()
        async throws
    {
        let tested = try TestedSender()
        let stems = try (1...6).map { try tested.add(Self.sidecar($0)) }
        _ = try tested.catalogs.catalog.note(stems[4]) { $0.starred = true }
        try await tested.run { try tested.counts().done == 6 }
        #expect(Set(tested.store.came) == Set(stems))
        // Four are sent at a time, so the first ones to begin are among the first four to arrive.
        #expect(tested.store.came.prefix(4).contains(stems[4]) && !tested.store.came.prefix(1).contains(stems[5]))
        #expect(try tested.catalogs.catalog.page(TakeQuery()).takes().allSatisfy { $0.upload == .done })
        let rebuilt = try Catalog.open(in: tested.disk.library, isNew: true, stores: [tested.store.name]).0
        let number = try #require(try rebuilt.setPresent([tested.storage])[tested.storage])
        for stem in stems {
            let name = try #require(TakeName(stem: stem, day: "2026-11-21"))
            _ = try rebuilt.index(
                [StoredTake(name, in: TakesFolder(path: tested.disk.takes))], on: number, at: tested.disk.takes)
        }
        #expect(try rebuilt.outboxCounts(of: tested.store.name).done == 6)
        // A store that is named later gets all of them.
        let more = try Catalog.open(in: tested.disk.library, stores: [tested.store.name, "folder:other"]).0
        try more.queueForNewStores()
        #expect(try more.outboxCounts(of: "folder:other").waiting == 6)
        #expect(try more.sentTakes(limit: 10).isEmpty)
    }

    @Test func `a take that another file of its name stands in the way of is held, and the others are sent`()
        async throws
    {
        let stem = TakesOnDisk.name(Self.sidecar(1)).stem
        let tested = try TestedSender(failing: [stem: Self.conflict])
        for number in 1...3 { try tested.add(Self.sidecar(number)) }
        try await tested.run { try tested.counts().done == 2 && tested.counts().held == 1 }
        let held = try tested.catalogs.catalog.outbox(limit: 10)
        #expect(held.map(\.id.stem) == [stem] && held[0].until == nil && held[0].why == "outbox: another file is there")
        var query = TakeQuery()
        query.upload = .held
        #expect(try tested.catalogs.catalog.page(query).takes().map(\.take) == [stem])
        // A retry sets it to waiting again. A newer sidecar would do the same.
        try tested.catalogs.catalog.retryUploads()
        #expect(try tested.counts().waiting == 1)
    }

    @Test func `a take that the store does not let this kit look at is held for a time, and the others are sent`()
        async throws
    {
        let hidden = StoreError(.hidden, "outbox: not shown")
        let tested = try TestedSender(failures: [hidden])
        for number in 1...3 { try tested.add(Self.sidecar(number)) }
        try await tested.run { try tested.counts().done >= 2 }
        #expect(
            tested.log.lines.filter { $0.hasPrefix("outbox: not shown: heron07-") && $0.hasSuffix(" is held") }.count
                == 1)
        #expect(!tested.log.lines.contains { $0.contains("its takes wait") })
        #expect(try tested.catalogs.catalog.outbox(limit: 10).allSatisfy { $0.state == .waiting || $0.until != nil })
    }

    @Test func `a store that refuses lets all takes wait, and the lamp shows it, until it is attempted again`()
        async throws
    {
        let refused = StoreError(.refused, "outbox: no right")
        let tested = try TestedSender(failures: Array(repeating: refused, count: 10))
        for number in 1...3 { try tested.add(Self.sidecar(number)) }
        let begun = SystemClock().now()
        try await tested.run {
            if case .refused("outbox: no right") = tested.board.uploadState { true } else { false }
        }
        #expect(try tested.counts().waiting == 3 && tested.counts().held == 0)
        // Three takes that fail at the same time count as one failure.
        guard case .waiting(_, let until) = tested.board.stores[tested.store.name]?.condition else {
            Issue.record("it does not wait")
            return
        }
        #expect(until >= begun + .milliseconds(2500) && until <= SystemClock().now() + .seconds(5))
    }

    @Test func `a folder that is away is attempted when something is mounted`() async throws {
        let tested = try TestedSender(isThere: false)
        try tested.add(Self.sidecar(1))
        let running = Task { try await tested.sender.run() }
        defer { running.cancel() }
        for await shown in tested.changes {
            #expect(shown != .sending, "nothing is sent while it is away")
            if case .waiting(let error, _) = tested.board.stores[tested.store.name]?.condition {
                #expect(error.problem == .away)
                break
            }
        }
        #expect(tested.board.uploadState == .held)
        mkdir(tested.home, 0o755)
        tested.sender.post(.surroundings)
        for await _ in tested.changes where tested.board.uploadState == .idle { break }
        #expect(try tested.counts().done == 1)
    }

    @Test func `a network that comes and goes is used each time, and logged once`() async throws {
        let away = StoreError(.away, "outbox: cannot be reached")
        let tested = try TestedSender(failures: Array(repeating: away, count: 5))
        try tested.add(Self.sidecar(1))
        let running = Task { try await tested.sender.run() }
        defer { running.cancel() }
        for await _ in tested.changes {
            if try tested.counts().done == 1 { break }
            if case .waiting = tested.board.stores[tested.store.name]?.condition { tested.sender.post(.surroundings) }
        }
        #expect(tested.log.lines.filter { $0.contains("its takes wait") }.count == 1)
    }

    @Test func `what a person decides holds: held, never, and paused`() async throws {
        let tested = try TestedSender()
        let stems = try (1...3).map { try tested.add(Self.sidecar($0)) }
        let requests = OutboxRequests(
            board: tested.board, post: { tested.sender.post($0) }, mark: PauseMark(in: tested.disk.library))
        let catalog = tested.catalogs.catalog
        #expect(try requests.carryOut(.hold, of: TakeIdentity(stem: stems[0]), catalog).upload == .held)
        #expect(try requests.carryOut(.remove, of: TakeIdentity(stem: stems[1]), catalog).upload == nil)
        try catalog.queueForNewStores()
        try catalog.retryUploads()
        try await tested.run { try tested.counts().done == 1 }
        #expect(tested.store.came == [stems[2]])
        #expect(try requests.carryOut(.add, of: TakeIdentity(stem: stems[0]), catalog).upload == .waiting)
        try requests.carryOut(.pause, catalog)
        #expect(PauseMark(in: tested.disk.library).isSet)
        #expect(try requests.report(catalog, limit: 10).paused)
        try requests.carryOut(.resume, catalog)
        #expect(!PauseMark(in: tested.disk.library).isSet)
    }

    @Test func `a take that failed and that a person adds waits again`() throws {
        let tested = try TestedSender()
        let catalog = tested.catalogs.catalog
        let stems = try (1...2).map { try tested.add(Self.sidecar($0)) }
        // With and without a receipt that the decision changes.
        _ = try catalog.note(stems[1]) { notes in
            notes[receiptOf: tested.store.name] = UploadReceipt(store: tested.store.name)
            notes[receiptOf: tested.store.name]?.complete(revision: 0, at: TakesOnDisk.morning.iso8601)
        }
        for stem in stems { try catalog.fail(stem, for: tested.store.name) }
        #expect(try tested.counts().held == 2)
        let requests = OutboxRequests(
            board: tested.board, post: { tested.sender.post($0) }, mark: PauseMark(in: tested.disk.library))
        for stem in stems {
            #expect(try requests.carryOut(.add, of: TakeIdentity(stem: stem), catalog).upload == .waiting)
        }
        #expect(try tested.counts().waiting == 2)
    }

    @Test func `two takes of one name that are sent at a time are both shown`() async throws {
        let disk = TakesOnDisk()
        let store = SilentStore(silent: .puts)
        let catalog = try Catalog.open(in: disk.library, stores: [store.name]).0
        let kits = ["00112233445566778899aabbccddeeff", "ffeeddccbbaa99887766554433221100"].map { KitID($0)! }
        let folders = try kits.map { kit in
            let folder = "\(disk.path)/\(kit)"
            mkdir(folder, 0o755)
            return try #require(Storage(at: folder))
        }
        let numbers = try catalog.setPresent(folders)
        for (folder, kit) in zip(folders, kits) {
            var sidecar = Self.sidecar(1)
            sidecar.kitID = kit
            let take = try StoredTake(disk.add(sidecar, in: folder.path), in: TakesFolder(path: folder.path))
            #expect(try catalog.index([take], on: try #require(numbers[folder]), at: folder.path).isEmpty)
        }
        let board = OutboxBoard { _ in }
        let log = KeptLog()
        let sender = try Sender(
            Stores.Entry(store: store, plan: StorePlan(name: store.name) { store }), CatalogSlot(catalog), board: board,
            window: .always, reader: try DiskReader(name: "reader"), throttle: nil,
            log: Logger(label: "test") { _ in log })
        let running = Task { try await sender.run() }
        // Each upload begins after its take was reported as being sent.
        var begun = 0
        for await _ in store.begun {
            begun += 1
            if begun == 2 { break }
        }
        let requests = OutboxRequests(board: board, post: { _ in }, mark: PauseMark(in: disk.library))
        #expect(try requests.report(catalog, limit: 9).takes.map(\.state) == [.sending, .sending])
        running.cancel()
        _ = try? await running.value
    }

    @Test func `a take that waits for its conversion is not queued, and one with a newer sidecar is sent again`()
        async throws
    {
        let tested = try TestedSender()
        var sidecar = Self.sidecar(1)
        sidecar.pendingFormat = "flac"
        try tested.add(sidecar)
        #expect(try tested.counts() == OutboxCounts())
        sidecar.pendingFormat = nil
        sidecar.revision = 2
        try tested.add(sidecar)
        try await tested.run { try tested.counts().done == 1 }
        sidecar.revision = 3
        try tested.add(sidecar)
        #expect(try tested.counts().waiting == 1)
    }

    @Test func `a take that a person removed after it was chosen is not sent`() async throws {
        let tested = try TestedSender()
        let stems = try (1...2).map { try tested.add(Self.sidecar($0)) }
        // Written to the file only, as if the database had not been updated yet.
        var notes = TakeNotes(take: stems[0])
        notes.upload = .never
        try JSONEncoder().encode(notes)
            .write(to: URL(filePath: "\(tested.disk.library)/takes/\(stems[0]).json"))
        #expect(try tested.catalogs.catalog.notes(of: stems[0]).upload == .never)
        try await tested.run { try tested.counts().done == 1 && tested.board.uploadState == .idle }
        #expect(tested.store.came == [stems[1]])
    }

    @Test func `a take whose notes cannot be read is held, and the others are sent`() async throws {
        let tested = try TestedSender()
        let stems = try (1...8).map { try tested.add(Self.sidecar($0)) }
        for stem in stems.prefix(5) { mkdir("\(tested.disk.library)/takes/\(stem).json", 0o755) }
        // Holds expire, so the takes may not all be held at the same time.
        var held: [String: String] = [:]
        try await tested.run {
            for entry in try tested.catalogs.catalog.outbox(limit: 8) where entry.state == .held {
                held[entry.id.stem] = entry.why
            }
            return try tested.counts().done == 3 && held.count == 5
        }
        // They are sent in parallel.
        #expect(Set(tested.store.came) == Set(stems.suffix(3)))
        #expect(held[stems[0]] == "outbox: read \(tested.disk.library)/takes/\(stems[0]).json: Is a directory")
    }

    @Test(.needs(.python)) func `a take whose hold cannot be noted is not attempted again at once`() async throws {
        let tested = try TestedSender(failing: [Self.sidecar(1).take: Self.conflict])
        for number in 1...20 { try tested.add(Self.sidecar(number)) }
        let change = try Process.run(
            URL(filePath: OtherProgram.python.path),
            arguments: [
                "-c",
                """
                import sqlite3, sys
                sqlite3.connect(sys.argv[1]).execute("CREATE TRIGGER full BEFORE UPDATE ON upload WHEN NEW.state = 'held' "
                    "BEGIN SELECT RAISE(ABORT, 'database or disk is full'); END")
                """, Catalog.databasePath(in: tested.disk.library),
            ])
        change.waitUntilExit()
        #expect(change.terminationStatus == 0)
        try await tested.run { try tested.counts().done == 19 }
        #expect(tested.store.failingAttemptCount == 1)
        #expect(tested.log.lines.filter { $0.contains("disk is full") }.count == 1)
    }

    @Test func `a store that does not answer while it is tidied does not keep the library from ending`() async throws {
        let store = SilentStore()
        let (disk, log) = (TakesOnDisk(), KeptLog())
        defer { withExtendedLifetime(disk) {} }
        let sender = try Sender(
            Stores.Entry(store: store, plan: StorePlan(name: store.name) { store }),
            CatalogSlot(try Catalog.open(in: disk.library, stores: [store.name]).0),
            board: OutboxBoard { _ in }, window: .always, reader: try DiskReader(name: "reader"), throttle: nil,
            log: Logger(label: "test") { _ in log })
        let group = ServiceGroup(
            services: [sender], logger: Logger(label: "services") { _ in SwiftLogNoOpLogHandler() })
        let running = Task { try await group.run() }
        for await _ in store.begun { break }
        await group.triggerGracefulShutdown()
        try await running.value
    }

    @Test func `a store that needs the clock is not tidied before it is set`() async throws {
        let store = SilentStore()
        let (disk, log) = (TakesOnDisk(), KeptLog())
        defer { withExtendedLifetime(disk) {} }
        let isSet = Mutex(false)
        let (looks, looked) = AsyncStream.makeStream(of: Void.self)
        let sender = try Sender(
            Stores.Entry(store: store, plan: StorePlan(name: store.name, needsClock: true) { store }),
            CatalogSlot(try Catalog.open(in: disk.library, stores: [store.name]).0),
            board: OutboxBoard { _ in }, window: .always, reader: try DiskReader(name: "reader"), throttle: nil,
            isClockSet: {
                looked.yield()
                return isSet.withLock { $0 }
            }, log: Logger(label: "test") { _ in log })
        let running = Task { try await sender.run() }
        for await _ in looks { break }
        #expect(!store.wasAsked)
        isSet.withLock { $0 = true }
        sender.post(.time)
        for await _ in store.begun { break }
        running.cancel()
        _ = try? await running.value
    }

    @Test func `a file that arrives ends the wait for the store`() async throws {
        let away = StoreError(.away, "outbox: cannot be reached")
        // Two takes are sent in parallel. One fails, then the first file of the other one arrives.
        let tested = try TestedSender(failures: [away])
        for number in 1...2 { try tested.add(Self.sidecar(number)) }
        let begun = SystemClock().now()
        try await tested.run { try tested.counts().done == 2 }
        #expect(SystemClock().now() - begun < .seconds(60))
    }
}
