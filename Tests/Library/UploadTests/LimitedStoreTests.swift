import Files
import FinishedTakes
import Foundation
import StoreTrials
import TakeFiles
import Takes
import Testing

@testable import Upload

/// A folder with restricted rights for the kit.
private struct LimitedStore: FolderFront {
    /// The refused operation.
    enum Limit { case reading, deleting, replacing }

    let folder: FolderStore
    var limits: Set<Limit>

    func put(
        _ source: UploadSource, _ checksum: (any Checksum)?, as object: ObjectName, _ metadata: ObjectMetadata,
        mode: PutMode, report: @escaping @Sendable (PutProgress) -> Void
    ) async throws -> StoredObject {
        if limits.contains(.replacing), mode.replaces { throw StoreError(.refused, "outbox: nothing is replaced") }
        if limits.contains(.reading), !mode.replaces, !mode.knows(metadata.sha256),
            try await folder.head(object)?.byteCount == source.byteCount
        {
            throw StoreError(.conflict, "outbox: another file of that name is there")
        }
        var stored = try await folder.put(source, checksum, as: object, metadata, mode: mode, report: report)
        if limits.contains(.reading) { stored.unverified = "outbox: nothing is read" }
        return stored
    }
    func get(_ object: ObjectName, _ receive: ([UInt8]) async throws -> Void) async throws {
        if limits.contains(.reading) { throw StoreError(.hidden, "outbox: nothing is read") }
        try await folder.get(object, receive)
    }
    func delete(_ object: ObjectName) async throws {
        if limits.contains(.deleting) { throw StoreError(.refused, "outbox: nothing is deleted") }
        try await folder.delete(object)
    }
}

struct LimitedStoreTests {
    private let trial: StoreTrial
    private let disk = TakesOnDisk()
    private let folder: FolderStore
    private let name: TakeName
    private let notes: TakeDeliveryTests.Notes

    init() throws {
        trial = try StoreTrial()
        let root = "\(trial.folder)/home"
        try FileManager.default.createDirectory(atPath: root, withIntermediateDirectories: true)
        folder = try FolderStore(name: "folder:\(root)", path: root, kit: "heron07")
        name = try disk.add(TakesOnDisk.sidecar(42), audioBytes: 5000)
        notes = TakeDeliveryTests.Notes(name.stem)
    }

    private func deliver(_ limits: Set<LimitedStore.Limit>) async throws -> UploadReceipt {
        let store = LimitedStore(folder: folder, limits: limits)
        return try await TakeDelivery(
            name, in: TakesFolder(path: disk.takes), to: store, reader: trial.reader, throttle: nil
        ).run(await notes.notes, now: { TakesOnDisk.morning }, report: { _ in }, save: { await notes.change($0) })
    }

    private func home(_ ending: String) -> [UInt8]? {
        try? FileSystem().contents("\(folder.path)/\(name.day)/\(name.stem).\(ending)")
    }

    @Test func `a take in a store that cannot be read is sent once and never counts as verified`() async throws {
        await notes.change { $0.memo = "a wren" }
        for memo in ["a wren", "an owl"] {
            await notes.change { $0.memo = memo }
            for _ in 1...2 {
                let receipt = try await deliver([.reading])
                #expect(receipt.isSent(revision: 1) && receipt.completed == nil)
                #expect(receipt.unverified?.why == "outbox: nothing is read")
                #expect(Set(receipt.unverified?.files ?? []) == Set(receipt.files.map(\.file)))
            }
            #expect(home("txt") == Array("\(memo)\n".utf8))
        }
        // The library has forgotten its receipts, so nothing is replaced.
        let before = try #require(home("notes.json"))
        await notes.change { notes in
            notes.receipts = []
            notes.memo = "a memo of another length"
        }
        await trial.expectProblem(.conflict) { _ = try await deliver([.reading]) }
        #expect(home("notes.json") == before)
    }

    @Test func `beside another's sound that cannot be read, no sidecar is put`() async throws {
        let sound = "\(TakesFolder(path: disk.takes).folder(of: name))/\(name.stem).wav"
        let another = Data(count: try Data(contentsOf: URL(filePath: sound)).count)
        let place = URL(filePath: "\(folder.path)/\(name.day)")
        try FileManager.default.createDirectory(at: place, withIntermediateDirectories: true)
        try another.write(to: place.appending(path: "\(name.stem).wav"))
        for _ in 1...2 { await trial.expectProblem(.conflict) { _ = try await deliver([.reading]) } }
        #expect(home("json") == nil && home("wav") == Array(another))
    }

    @Test func `a memo that was taken back and cannot be deleted at home is emptied there`() async throws {
        await notes.change { $0.memo = "a wren" }
        _ = try await deliver([.deleting])
        await notes.change { $0.memo = nil }
        let receipt = try await deliver([.deleting])
        #expect(receipt.isComplete(revision: 1))
        #expect(home("txt") == [])
        // Another delivery changes nothing. Where deletion is allowed, the file is deleted.
        #expect(try await deliver([.deleting]).isComplete(revision: 1))
        await notes.change { $0.memo = "an owl" }
        #expect(try await deliver([.deleting]).isComplete(revision: 1))
        #expect(home("txt") == Array("an owl\n".utf8))
        await notes.change { $0.memo = nil }
        #expect(try await deliver([]).sha256(of: "\(name.stem).txt") == nil)
        #expect(home("txt") == nil)
    }

    @Test func `a store that replaces nothing holds that take alone`() async throws {
        await notes.change { $0.memo = "a wren" }
        _ = try await deliver([.replacing])
        await notes.change { $0.memo = nil }
        await trial.expectProblem(.hidden) { _ = try await deliver([.deleting, .replacing]) }
        #expect(StoreError(.hidden, "").isOfTake)
        #expect(home("txt") == Array("a wren\n".utf8))
    }
}
