import Files
import Foundation
import PowerCuts
import StoreTrials
import Testing

@testable import Upload

/// Another program writes into the folder during a copy.
struct FolderRaceTests {
    private let trial: StoreTrial
    private let root: String
    private let sidecar: ObjectName

    init() throws {
        trial = try StoreTrial()
        root = "\(trial.folder)/stick"
        sidecar = trial.name("heron07-0042-061811Z.json")
        try FileManager.default.createDirectory(atPath: "\(root)/2026-11-21", withIntermediateDirectories: true)
    }

    private func store(_ files: FileSystem = FileSystem()) throws -> FolderStore {
        try FolderStore(name: "folder:\(root)", path: root, kit: "heron07", files: files)
    }

    private func content() throws -> String {
        try String(contentsOfFile: "\(root)/\(sidecar)", encoding: .utf8)
    }

    private func files() throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: "\(root)/2026-11-21")
    }

    private func put(
        _ text: String, _ mode: PutMode, in store: FolderStore, whileVerifying: @escaping @Sendable () -> Void = {}
    ) async throws {
        let source = UploadSource(Array(text.utf8), called: "new", reader: trial.reader)
        _ = try await store.put(source, as: sidecar, try await trial.metadata(source), mode: mode) { progress in
            if progress == .verifying { whileVerifying() }
        }
    }

    /// A store in which another program writes a file just before a rename.
    private func raced(by text: String) throws -> FolderStore {
        let place = "\(root)/\(sidecar)"
        let calls = FaultyCalls(root: root, renamesNew: true)
        calls.setRefusal { verb, _ in
            if verb == "rename" { try? Data(text.utf8).write(to: URL(filePath: place)) }
            return nil
        }
        return try store(FileSystem(calls: calls))
    }

    @Test func `a file that comes right before the rename stays`() async throws {
        let raced = try raced(by: "other")
        await trial.expectProblem(.conflict) { try await put("own", .create, in: raced) }
        #expect(try content() == "other")
        #expect(try files() == [sidecar.file])
    }

    @Test func `the same file that comes right before the rename is as good`() async throws {
        try await put("own", .create, in: try raced(by: "own"))
        #expect(try content() == "own")
        #expect(try files() == [sidecar.file])
    }

    @Test func `what was to be replaced, and has changed while the copy was made, stays`() async throws {
        let store = try store()
        try await put("old", .create, in: store)
        let old = UploadSource(Array("old".utf8), called: "old", reader: trial.reader)
        let (mode, place) = (PutMode.replacing(try await old.sha256()), "\(root)/\(sidecar)")
        await trial.expectProblem(.conflict) {
            try await put("own", mode, in: store) { try? Data("other".utf8).write(to: URL(filePath: place)) }
        }
        #expect(try content() == "other")
        #expect(try files() == [sidecar.file])
        try Data("old".utf8).write(to: URL(filePath: place))
        try await put("own", mode, in: store)
        #expect(try content() == "own")
    }

    @Test func `what was to be replaced, and is gone, is written`() async throws {
        let store = try store()
        try await put("old", .create, in: store)
        let old = UploadSource(Array("old".utf8), called: "old", reader: trial.reader)
        let place = "\(root)/\(sidecar)"
        try await put("own", .replacing(try await old.sha256()), in: store) {
            try? FileManager.default.removeItem(atPath: place)
        }
        #expect(try content() == "own")
    }

    @Test func `a file that is longer than the file system takes is refused for itself, and leaves nothing`()
        async throws
    {
        let calls = FaultyCalls(root: root) { _, verb in verb == "write" ? EFBIG : nil }
        let store = try store(FileSystem(calls: calls))
        await trial.expectProblem(.rejected) { try await put("own", .create, in: store) }
        #expect(try files() == [])
    }
}
