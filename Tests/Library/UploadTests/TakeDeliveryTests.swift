import FinishedTakes
import Foundation
import Glibc
import OtherPrograms
import StoreTrials
import TakeFiles
import Takes
import Testing

@testable import Upload

struct TakeDeliveryTests {
    let trial: StoreTrial
    let disk = TakesOnDisk()
    let root: String
    let store: FolderStore

    init() throws {
        trial = try StoreTrial()
        root = "\(trial.folder)/stick"
        try FileManager.default.createDirectory(atPath: root, withIntermediateDirectories: true)
        store = try FolderStore(name: "folder:\(root)", path: root, kit: "heron07")
    }

    actor Notes {
        var notes: TakeNotes
        var saves = 0
        init(_ take: String) { notes = TakeNotes(take: take) }
        func change(_ change: @Sendable (inout TakeNotes) -> Void) {
            let before = notes
            change(&notes)
            notes.revise(since: before)
            saves += 1
        }
    }

    func deliver(_ name: TakeName, _ notes: Notes) async throws -> UploadReceipt {
        let delivery = TakeDelivery(
            name, in: TakesFolder(path: disk.takes), to: store, reader: trial.reader, throttle: nil)
        return try await delivery.run(
            await notes.notes, now: { TakesOnDisk.morning }, report: { _ in }, save: { await notes.change($0) })
    }

    func modified(_ file: String) throws -> Date {
        try #require(
            try FileManager.default.attributesOfItem(atPath: "\(root)/2026-11-21/\(file)")[.modificationDate] as? Date)
    }

    @Test("a take is sent whole, with hashes in its sidecar, and once", .needs(.sha256sum))
    func whole() async throws {
        var sidecar = TakesOnDisk.sidecar(42)
        let name = try disk.add(sidecar, audioBytes: 5000)
        let notes = Notes(name.stem)
        await notes.change { $0.memo = "by the river" }
        let receipt = try await deliver(name, notes)
        #expect(receipt.isComplete(revision: 1) && receipt.completed == TakesOnDisk.morning.iso8601)
        let day = "\(root)/2026-11-21"
        #expect(
            try FileManager.default.contentsOfDirectory(atPath: day).sorted()
                == ["json", "notes.json", "txt", "wav"].map { "\(name.stem).\($0)" })
        #expect(try String(contentsOfFile: "\(day)/\(name.stem).txt", encoding: .utf8) == "by the river\n")
        let sent = try SidecarFile.sidecar(
            Array(Data(contentsOf: URL(filePath: "\(day)/\(name.stem).json"))), path: "sent")
        #expect(sent.parts[0].sha256 == receipt.sha256(of: "\(name.stem).wav"))
        let program = try #require(popen("sha256sum \(day)/\(name.stem).wav", "r"))
        var line = [CChar](repeating: 0, count: 65)
        fgets(&line, 65, program)
        pclose(program)
        #expect(String(decoding: line.prefix(64).map { UInt8(bitPattern: $0) }, as: UTF8.self) == sent.parts[0].sha256)
        // Another delivery writes nothing.
        let before = try modified("\(name.stem).wav")
        #expect(try await deliver(name, notes).files == receipt.files)
        // For a newer revision, only the sidecar is sent.
        sidecar.revision = 2
        sidecar.startedCorrected = "2026-11-21T06:18:12.000000Z"
        try disk.add(sidecar, audioBytes: 5000)
        let second = try await deliver(name, notes)
        #expect(second.isComplete(revision: 2))
        #expect(try modified("\(name.stem).wav") == before)
        // The library has forgotten everything. The files are found by their hashes, and the older sidecar is
        // identified by its take.
        sidecar.revision = 3
        try disk.add(sidecar, audioBytes: 5000)
        let forgotten = Notes(name.stem)
        #expect(try await deliver(name, forgotten).isComplete(revision: 3))
        #expect(try modified("\(name.stem).wav") == before)
        // Another kit's take of the same name is never overwritten.
        sidecar.bootID = "another"
        try disk.add(sidecar, audioBytes: 5000)
        await trial.expectProblem(.conflict) { _ = try await deliver(name, Notes(name.stem)) }
    }

    @Test("a memo that comes while the take is sent is sent afterwards, and one that is taken back goes")
    func memo() async throws {
        let name = try disk.add(TakesOnDisk.sidecar(42), audioBytes: 5000)
        let notes = Notes(name.stem)
        let delivery = TakeDelivery(
            name, in: TakesFolder(path: disk.takes), to: store, reader: trial.reader, throttle: nil)
        _ = try await delivery.run(
            await notes.notes, now: { TakesOnDisk.morning }, report: { _ in },
            save: { change in
                await notes.change { $0.memo = "a wren" }
                await notes.change(change)
            })
        #expect(await notes.notes[receiptOf: store.name]?.completed == nil)
        let text = "\(root)/2026-11-21/\(name.stem).txt"
        #expect(try await deliver(name, notes).completed != nil)
        #expect(try String(contentsOfFile: text, encoding: .utf8) == "a wren\n")
        await notes.change { $0.memo = nil }
        #expect(try await deliver(name, notes).sha256(of: "\(name.stem).txt") == nil)
        #expect(!FileManager.default.fileExists(atPath: text))
    }

    @Test("markers that a person changed are in the sidecar that is sent, also those that come while it is sent")
    func markers() async throws {
        let name = try disk.add(TakesOnDisk.sidecar(42, markers: ["wren"]), audioBytes: 5000)
        let notes = Notes(name.stem)
        let path = "\(root)/2026-11-21/\(name.stem).json"
        func sent() throws -> [String?] {
            try SidecarFile.sidecar(Array(Data(contentsOf: URL(filePath: path))), path: path).markers.map(\.note)
        }
        let delivery = TakeDelivery(
            name, in: TakesFolder(path: disk.takes), to: store, reader: trial.reader, throttle: nil)
        _ = try await delivery.run(
            await notes.notes, now: { TakesOnDisk.morning }, report: { _ in },
            save: { change in
                await notes.change { $0.setMarker(.init(atFrame: .first, note: "owl")) }
                await notes.change(change)
            })
        #expect(try sent() == ["wren"])
        #expect(await notes.notes[receiptOf: store.name]?.completed == nil)
        #expect(try await deliver(name, notes).completed != nil)
        #expect(try sent() == ["owl"])
        #expect(try TakesFolder(path: disk.takes).sidecar(of: name).markers.map(\.note) == ["wren"])
    }

    @Test("a file that is missing, or changed since it was hashed, is not sent")
    func damaged() async throws {
        let name = try disk.add(TakesOnDisk.sidecar(42), audioBytes: 5000)
        let notes = Notes(name.stem)
        await notes.change {
            $0.setHash(.init(file: "\(name.stem).wav", bytes: 5000, sha256: String(repeating: "0", count: 64)))
        }
        await trial.expectProblem(.unreadable) { _ = try await deliver(name, notes) }
        unlink("\(disk.takes)/2026-11-21/\(name.stem).wav")
        await trial.expectProblem(.unreadable) { _ = try await deliver(name, Notes(name.stem)) }
        #expect(!FileManager.default.fileExists(atPath: "\(root)/2026-11-21/\(name.stem).json"))
    }

    @Test("nothing is read for a store that is away")
    func away() async throws {
        let name = try disk.add(TakesOnDisk.sidecar(42), audioBytes: 5000)
        try FileManager.default.removeItem(atPath: root)
        let notes = Notes(name.stem)
        await trial.expectProblem(.away) { _ = try await deliver(name, notes) }
        #expect(await notes.saves == 0)
    }

    @Test("sound that has changed on the kit never replaces what was sent")
    func changedSound() async throws {
        let name = try disk.add(TakesOnDisk.sidecar(42), audioBytes: 5000)
        let notes = Notes(name.stem)
        _ = try await deliver(name, notes)
        let home = "\(root)/2026-11-21/\(name.stem).wav"
        let sent = try Data(contentsOf: URL(filePath: home))
        try Data(count: 4000).write(to: URL(filePath: "\(disk.takes)/2026-11-21/\(name.stem).wav"))
        await trial.expectProblem(.conflict) { _ = try await deliver(name, notes) }
        #expect(try Data(contentsOf: URL(filePath: home)) == sent)
    }

    /// A store that accepts files, and hides them until `open`.
    private final class DropBox: FolderFront {
        let folder: FolderStore
        private let state = Locked((isOpen: false, puts: 0))
        var puts: Int { state.withLock(\.puts) }
        private var isOpen: Bool { state.withLock(\.isOpen) }

        init(_ folder: FolderStore) { self.folder = folder }

        func open() { state.withLock { $0.isOpen = true } }

        func put(
            _ source: UploadSource, _ checksum: (any Checksum)?, as object: ObjectName, _ metadata: ObjectMetadata,
            mode: PutMode, report: @escaping @Sendable (PutProgress) -> Void
        ) async throws -> StoredObject {
            state.withLock { $0.puts += 1 }
            var stored = try await folder.put(source, checksum, as: object, metadata, mode: mode, report: report)
            if !isOpen { stored.unverified = "outbox: nothing is shown" }
            return stored
        }
        func head(_ object: ObjectName) async throws -> StoredObject? {
            guard isOpen else { throw StoreError(.hidden, "outbox: nothing is shown") }
            return try await folder.head(object)
        }
    }

    @Test("a take in a store that shows nothing is sent once, and verified once that shows it")
    func unverified() async throws {
        let name = try disk.add(TakesOnDisk.sidecar(42), audioBytes: 5000)
        let (notes, box) = (Notes(name.stem), DropBox(store))
        func deliver() async throws -> UploadReceipt {
            try await TakeDelivery(
                name, in: TakesFolder(path: disk.takes), to: box, reader: trial.reader, throttle: nil
            ).run(
                await notes.notes, now: { TakesOnDisk.morning }, report: { _ in }, save: { await notes.change($0) })
        }
        let receipt = try await deliver()
        #expect(receipt.isSent(revision: 1) && !receipt.isComplete(revision: 1) && receipt.completed == nil)
        #expect(receipt.unverified?.why == "outbox: nothing is shown")
        #expect(receipt.unverified?.files == ["\(name.stem).wav", "\(name.stem).json"])
        #expect(await notes.notes[receiptOf: store.name] == receipt)
        // The receipt as it is saved and loaded again.
        let saved = try JSONDecoder().decode(UploadReceipt.self, from: JSONEncoder().encode(receipt))
        #expect(saved == receipt)
        let sent = box.puts
        #expect(try await deliver() == receipt)
        #expect(box.puts == sent)
        box.open()
        let verified = try await deliver()
        #expect(verified.isComplete(revision: 1) && verified.unverified == nil)
    }
}
