import Catalog
import Control
import DiskCalls
import Files
import FinishedTakes
import Foundation
import Logging
import StoreTrials
import TakeFiles
import TakePlaces
import Takes
import Testing
import Transport
import Upload

@testable import Library

/// A server that keeps files in a folder, with its own marks for them, like an S3 ETag.
private final class MarkingStore: FolderFront {
    let folder: FolderStore
    private let state = Locked((mark: "etag:1", reads: 0))
    var mark: String {
        get { state.withLock(\.mark) }
        set { state.withLock { $0.mark = newValue } }
    }
    /// The number of files that were read back.
    var reads: Int { state.withLock(\.reads) }
    /// The errors for requests about a sidecar, by kind of request.
    let failures = Locked<[Question: StoreError.Problem]>([:])
    enum Question { case head, get }

    private func answer(_ question: Question, _ object: ObjectName) throws {
        guard object.isSidecar, let problem = failures.withLock({ $0[question] }) else { return }
        throw StoreError(problem, "\(question)")
    }

    init(_ folder: FolderStore) { self.folder = folder }

    var traits: StoreTraits { .server }
    func place() async throws -> FileIdentity? { nil }
    private func marked(_ object: StoredObject) -> StoredObject {
        var object = object
        object.mark = mark
        return object
    }

    func put(
        _ source: UploadSource, _ checksum: (any Checksum)?, as object: ObjectName, _ metadata: ObjectMetadata,
        mode: PutMode, report: @escaping @Sendable (PutProgress) -> Void
    ) async throws -> StoredObject {
        marked(try await folder.put(source, checksum, as: object, metadata, mode: mode, report: report))
    }
    func head(_ object: ObjectName) async throws -> StoredObject? {
        try answer(.head, object)
        return try await folder.head(object).map(marked)
    }
    func get(_ object: ObjectName, _ receive: ([UInt8]) async throws -> Void) async throws {
        try answer(.get, object)
        if !object.isSidecar { state.withLock { $0.reads += 1 } }
        try await folder.get(object, receive)
    }
}

/// The files that stores have of a take before it is deleted from the kit.
@Suite(.waitsOnNamedThreads, .timeLimit(.minutes(15))) final class ProofTests: InspectedKit {
    private func copies(_ other: (any Store)? = nil, mount: String? = nil) throws -> RemoteCopies {
        let store = other ?? store
        return try tested.copies([StorePlan(name: store.name, mount: mount) { store }])
    }

    private func sent(_ sidecar: Sidecar) async throws -> KitCopy {
        let name = try tested.disk.addSound(sidecar).name
        await tested.indexer.scanAll()
        try await send { try counts().done == 1 }
        return try KitCopy(name, in: tested.disk.takes)
    }

    private func without(_ copy: KitCopy, _ other: (any Store)? = nil, mount: String? = nil) async throws -> [String] {
        try await copies(other, mount: mount).storesWithout(copy, tested.catalog.notes(of: copy.take.stem))
    }

    /// Overwrites the sound at home with silence of the same length.
    private func silence(_ copy: KitCopy) throws {
        let path = "\(tested.disk.path)/home/\(copy.take.day)/\(copy.take.stem).wav"
        let count = try FileSystem().contents(path, limit: 1 << 30).count
        try tested.disk.write([UInt8](repeating: 0, count: count), to: path)
    }

    @Test(arguments: [nil, "/run/fieldfare/stick"])
    func `sound of the same length that is not what was sent is no copy`(mount: String?) async throws {
        let copy = try await sent(Self.sidecar(1))
        #expect(try await without(copy, mount: mount).isEmpty)
        try silence(copy)
        #expect(try await without(copy, mount: mount) == [store.name])
    }

    @Test func `a store's own hash that is as it was proves its files, and otherwise they are read back`() async throws
    {
        let name = try tested.disk.addSound(Self.sidecar(1)).name
        await tested.indexer.scanAll()
        let (marking, catalog) = (MarkingStore(store), tested.catalog)
        let delivery = TakeDelivery(
            name, in: TakesFolder(path: tested.disk.takes), to: marking, reader: try DiskReader(name: "reader"),
            throttle: nil)
        let receipt = try await delivery.run(
            catalog.notes(of: name.stem), now: { TakesOnDisk.morning }, report: { _ in },
            save: { _ = try catalog.note(name.stem, $0) })
        #expect(receipt.files.allSatisfy { $0.mark == "etag:1" })
        let copy = try KitCopy(name, in: tested.disk.takes)
        #expect(try await without(copy, marking).isEmpty && marking.reads == 0)
        // The mark changes if the service copies the file.
        marking.mark = "etag:2"
        #expect(try await without(copy, marking).isEmpty && marking.reads == 1)
        try silence(copy)
        #expect(try await without(copy, marking) == [store.name] && marking.reads == 2)
        // Earlier versions did not note marks.
        _ = try catalog.note(name.stem) { notes in
            for index in notes.receipts[0].files.indices { notes.receipts[0].files[index].mark = nil }
        }
        #expect(try await without(copy, marking) == [store.name] && marking.reads == 3)
    }

    @Test func `a store that fails leaves open what it has, and one that cannot be reached is not asked`() async throws
    {
        let copy = try await sent(Self.sidecar(1))
        let marking = MarkingStore(store)
        let open: [(MarkingStore.Question, StoreError.Problem)] = [
            (.head, .busy(nil)), (.head, .refused), (.head, .hidden), (.get, .busy(nil)), (.get, .away),
            (.get, .refused),
        ]
        for (question, problem) in open {
            marking.failures.withLock { $0 = [question: problem] }
            let error = await #expect(throws: StoreError.self) { _ = try await without(copy, marking) }
            #expect(error?.problem == problem)
        }
        marking.failures.withLock { $0 = [.head: .away] }
        #expect(try await without(copy, marking).isEmpty)
        marking.failures.withLock { $0 = [.get: .missing] }
        #expect(try await without(copy, marking) == [store.name])
    }

    @Test func `another stick in the place of the one that has the take says nothing`() async throws {
        let copy = try await sent(Self.sidecar(1))
        let path = "\(tested.disk.path)/home/\(copy.take.day)/\(copy.take.stem).json"
        let sidecar = try FileSystem().contents(path)
        var other = copy.sidecar
        other.bootID = "another"
        // The sidecar of another recording with that name.
        try tested.disk.write(SidecarFile.bytes(other), to: path)
        #expect(try await without(copy, mount: "/run/fieldfare/stick").isEmpty)
        #expect(try await without(copy) == [store.name])
        // The same stick, but damaged.
        for damaged in [[], [UInt8](repeating: 0, count: sidecar.count), Array(sidecar.dropLast(9))] {
            try tested.disk.write(damaged, to: path)
            #expect(try await without(copy, mount: "/run/fieldfare/stick") == [store.name])
        }
        try FileManager.default.removeItem(atPath: path)
        #expect(try await without(copy, mount: "/run/fieldfare/stick") == [store.name])
        // A stick that has nothing of the take.
        for file in home where !file.hasSuffix(copy.take.day) {
            try FileManager.default.removeItem(atPath: "\(tested.disk.path)/home/\(file)")
        }
        #expect(try await without(copy, mount: "/run/fieldfare/stick").isEmpty)
        #expect(try await without(copy) == [store.name])
        try FileManager.default.removeItem(atPath: "\(tested.disk.path)/home")
        #expect(try await without(copy, mount: "/run/fieldfare/stick").isEmpty)
        #expect(try await without(copy) == [store.name])
    }

    @Test func `a take whose sound at home is another's is not deleted where home is to be left`() async throws {
        let copy = try await sent(Self.sidecar(1))
        try silence(copy)
        let socket = "\(tested.disk.path)/recorder.sock"
        let asked = Locked(0)
        let recorder = try DeskRecorder(socket) { message in
            if case .command(.discard) = message { asked.withLock { $0 += 1 } }
        }
        defer { recorder.stop() }
        let deletion = try tested.deletion(tested.requests {}, copies(), recorder: socket)
        await #expect(throws: Refusal.self) {
            try await deletion.delete(copy.take.stem, Deletion(.here, onlyIfHome: true))
        }
        #expect(asked.withLock { $0 } == 0)
    }

    @Test func `a long sidecar at home is the one that was sent`() async throws {
        var sidecar = Self.sidecar(1)
        sidecar.markers = (0..<10_000).map {
            Sidecar.Marker(atFrame: TakeFrame(Int64($0 % 9000)), note: String(repeating: "owl ", count: 110))
        }
        let copy = try await sent(sidecar)
        #expect(try #require(copy.byteCount(of: .sidecar(of: copy.take.stem))) > 4 << 20)
        #expect(try await without(copy).isEmpty)
        try await copies().deleteEverywhere(copy, in: nil, leavesKit: true)
        #expect(home.allSatisfy { !$0.isFile(of: copy.take.stem) })
    }

    @Test func `a sidecar that was made anew is known at home by its hash, whatever it says of start and sound`()
        async throws
    {
        var sidecar = Self.sidecar(1)
        (sidecar.bootID, sidecar.startedMonotonicNs, sidecar.recovered) = ("", 0, true)
        sidecar.started = "2026-11-21"
        let copy = try await sent(sidecar)
        #expect(!copy.sidecar.isOfSameRecording(as: copy.sidecar))
        #expect(try await without(copy).isEmpty)
        try await copies().deleteEverywhere(copy, in: nil, leavesKit: true)
        #expect(home.allSatisfy { !$0.isFile(of: copy.take.stem) })
    }

    @Test func `a sidecar that was sent and cannot be read is said, and its take is not sent again`() async throws {
        let copy = try await sent(Self.sidecar(1))
        let path = "\(tested.disk.path)/home/\(copy.take.day)/\(copy.take.stem).json"
        var sidecar = copy.sidecar
        sidecar.markers = [Sidecar.Marker(atFrame: TakeFrame(.max), note: nil)]
        let bytes = SidecarFile.bytes(sidecar)
        try tested.disk.write(bytes, to: path)
        let file = "\(copy.take.stem).json"
        let object = ObjectName(day: copy.take.day, file: file)
        let sha256 = try await store.sha256(of: object, byteCount: Int64(bytes.count))
        _ = try tested.catalog.note(copy.take.stem) { notes in
            notes.receipts[0].add(.init(file: file, bytes: Int64(bytes.count), sha256: sha256))
        }
        let error = await #expect(throws: StoreError.self) { _ = try await without(copy) }
        #expect(error?.problem == .unreadable && error?.sentence.contains("markers.0.at_frame") == true)
    }
}
