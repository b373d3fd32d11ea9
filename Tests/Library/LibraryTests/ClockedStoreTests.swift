import DiskCalls
import Files
import Foundation
import Synchronization
import Testing
import Upload

@testable import Library

private struct ByteCount: Checksum, Equatable {
    var count: Int64

    mutating func update(_ bytes: [UInt8]) { count += Int64(bytes.count) }
}

/// A store that records its requests.
private final class CountingStore: Store {
    let name = "counting"
    let traits = StoreTraits.folder
    private let asked = Mutex<[String]>([])
    var requests: [String] { asked.withLock { $0 } }
    private func note(_ request: String) { asked.withLock { $0.append(request) } }

    func wantedChecksum(byteCount: Int64) -> (any Checksum)? { ByteCount(count: byteCount) }
    func put(
        _ source: UploadSource, _ checksum: (any Checksum)?, as object: ObjectName, _ metadata: ObjectMetadata,
        mode: PutMode, report: @escaping @Sendable (PutProgress) -> Void
    ) async throws -> StoredObject {
        note((checksum as? ByteCount).map { "put \($0.count)" } ?? "put")
        return StoredObject(name: object, byteCount: source.byteCount, sha256: metadata.sha256)
    }
    func head(_ object: ObjectName) async throws -> StoredObject? {
        note("head")
        return nil
    }
    func list(_ receive: ([StoredObject]) async throws -> Void) async throws { note("list") }
    func get(_ object: ObjectName, _ receive: ([UInt8]) async throws -> Void) async throws { note("get") }
    func delete(_ object: ObjectName) async throws { note("delete") }
    func tidy() async throws { note("tidy") }
    func medium() async throws -> String? {
        note("medium")
        return "the second"
    }
    func place() async throws -> FileIdentity? {
        note("place")
        return FileIdentity(device: 1, inode: 2)
    }
    func close() async { note("close") }
}

@Suite(.waitsOnNamedThreads) struct ClockedStoreTests {
    private let store = CountingStore()
    private let object = ObjectName(day: "2026-11-21", file: "heron07-0042-061811Z.wav")

    /// Sends every kind of request.
    /// - Returns: the errors thrown, in order.
    private func askAll(_ store: any Store) async throws -> [StoreError] {
        let source = UploadSource([1], called: "a", reader: try DiskReader(name: "reader"))
        let metadata = ObjectMetadata(title: "a", started: "", duration: 1, kit: "heron07", waveform: "", sha256: "")
        var errors: [StoreError] = []
        func ask(_ body: () async throws -> Void) async throws {
            do { try await body() } catch let error as StoreError { errors.append(error) }
        }
        try await ask {
            _ = try await store.put(source, ByteCount(count: 7), as: object, metadata, mode: .create) { _ in }
        }
        try await ask { _ = try await store.head(object) }
        try await ask { try await store.list { _ in } }
        try await ask { try await store.get(object) { _ in } }
        try await ask { try await store.delete(object) }
        try await ask { try await store.tidy() }
        try await ask {
            let medium = try await store.medium()
            #expect(medium == "the second")
        }
        try await ask {
            let place = try await store.place()
            #expect(place == FileIdentity(device: 1, inode: 2))
        }
        return errors
    }

    @Test func `a store with a certificate is asked for nothing while the clock is not set`() async throws {
        let error = StoreError(
            .away,
            "outbox: counting: the clock is not set, so that no certificate can be checked: set it, or wait for it")
        let plans = [true, false].map { needsClock in
            StorePlan(name: store.name, needsClock: needsClock) { [store] in store }
        }
        let stores = Stores(plans).checkingClock { false }
        #expect(try await askAll(stores.all[0].store) == Array(repeating: error, count: 8))
        #expect(store.requests == [])
        // A store without a certificate still receives the requests.
        #expect(try await askAll(stores.all[1].store) == [])
        #expect(store.requests == ["put 7", "head", "list", "get", "delete", "tidy", "medium", "place"])
        #expect(try await askAll(Stores(plans).checkingClock { true }.all[0].store) == [])
        #expect(store.requests.count == 16)
    }

    @Test func `what a store is and wants is known whatever the clock is, and it is closed`() async throws {
        let clocked = ClockedStore(store) { false }
        #expect(clocked.name == "counting" && clocked.traits.isFolder)
        #expect(clocked.wantedChecksum(byteCount: 5) as? ByteCount == ByteCount(count: 5))
        await clocked.close()
        #expect(store.requests == ["close"])
    }
}
