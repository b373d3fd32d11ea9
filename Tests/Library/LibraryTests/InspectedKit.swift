import Catalog
import Control
import Files
import FinishedTakes
import Foundation
import Logging
import OtherPrograms
import ServiceLifecycle
import Settings
import Takes
import TestBench
import Testing
import Transport
import Upload

@testable import Library

/// A kit with a store. Its takes are damaged before the library reads them for the first time, or after they were sent.
class InspectedKit {
    let tested: TestedIndexer
    let store: FolderStore
    let board: OutboxBoard
    let inspector: SoundInspector
    /// The faults that the recorder should show, in order.
    let shown = Locked<[String?]>([])
    let changes: AsyncStream<UploadState>

    let storage = UnreadableSound()
    let clock = TestClock()

    init() throws {
        tested = try TestedIndexer(stores: ["folder:home"])
        mkdir("\(tested.disk.path)/home", 0o755)
        store = try FolderStore(name: "folder:home", path: "\(tested.disk.path)/home", kit: "heron07")
        let (changes, changed) = AsyncStream.makeStream(of: UploadState.self)
        self.changes = changes
        board = OutboxBoard { changed.yield($0) }
        let log = tested.log
        inspector = try SoundInspector(
            tested.catalogs, files: FileSystem(calls: storage), clock: clock,
            show: { [shown] fault in shown.withLock { $0.append(fault) } },
            log: Logger(label: "test") { _ in log })
    }

    var day: String { "\(tested.disk.takes)/\(TakesOnDisk.name(TakesOnDisk.sidecar(1)).day)" }
    var home: [String] {
        (try? FileManager.default.subpathsOfDirectory(atPath: "\(tested.disk.path)/home")) ?? []
    }

    /// A short take, optionally with an unfiltered twin and several parts.
    static func sidecar(_ number: Int, parts: Int = 1, hasTwin: Bool = false) -> Sidecar {
        var sidecar = TakesOnDisk.sidecar(number, started: TakesOnDisk.morning + .seconds(60 * number), seconds: 0.2)
        let (name, part) = (TakesOnDisk.name(sidecar), sidecar.parts[0])
        sidecar.parts = (1...parts).map { index in
            var copy = part
            copy.file = name.audioFile(part: index)
            if hasTwin { copy.unfilteredFile = name.audioFile(part: index, isUnfiltered: true) }
            copy.firstFrame = TakeFrame(Int64(index - 1) * part.frames)
            return copy
        }
        sidecar.frames = part.frames * Int64(parts)
        return sidecar
    }

    func spoil(_ file: String, _ change: (inout [UInt8]) -> Void) throws {
        var bytes = try FileSystem().contents("\(day)/\(file)", limit: 1 << 30)
        change(&bytes)
        try tested.disk.write(bytes, to: "\(day)/\(file)")
    }

    func sender() throws -> Sender {
        let log = tested.log
        let inspector = inspector
        let sender = try Sender(
            Stores.Entry(store: store, plan: StorePlan(name: store.name) { [store] in store }), tested.catalogs,
            board: board, window: .always, reader: try DiskReader(name: "reader"), throttle: nil,
            checkSound: { try await inspector.check($0, in: $1, $2) },
            log: Logger(label: "test") { _ in log })
        inspector.onFree { sender.post(.takes) }
        return sender
    }

    func counts() throws -> OutboxCounts { try tested.catalog.outboxCounts(of: store.name) }

    /// Sends takes until `holds` is true.
    func send(until holds: () throws -> Bool) async throws {
        let sender = try sender()
        let running = Task { try await sender.run() }
        for await _ in changes where try holds() { break }
        running.cancel()
        _ = try? await running.value
    }

    func keeper(at recorder: String) throws -> Keeper {
        let (log, inspector) = (tested.log, inspector)
        return try Keeper(
            .untilUploaded, tested.catalogs, recorder: try RecorderLink(path: recorder),
            reader: try DiskReader(name: "reader"), discards: try tested.discards(recorder),
            storesWithout: { _, _ in [] }, checkSound: { try await inspector.check($0, in: $1, .all) },
            log: Logger(label: "test") { _ in log })
    }

    func damaged() throws -> [CatalogedTake] {
        var query = TakeQuery()
        query.isDamaged = true
        return try tested.catalog.page(query).takes()
    }

    /// Flips a bit of a file without changing its length or modification time.
    func decay(_ file: String) throws {
        let path = "\(day)/\(file)"
        var before = stat()
        #expect(stat(path, &before) == 0)
        try spoil(file) { $0[1000] ^= 2 }
        var times = [before.st_atim, before.st_mtim]
        #expect(utimensat(AT_FDCWD, path, &times, 0) == 0)
    }
}
