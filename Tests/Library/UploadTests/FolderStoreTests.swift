import Files
import Foundation
import PowerCuts
import StoreTrials
import Testing

@testable import Upload

struct FolderStoreTests {
    let trial: StoreTrial
    let root: String
    init() throws {
        trial = try StoreTrial()
        root = "\(trial.folder)/stick"
        try FileManager.default.createDirectory(atPath: root, withIntermediateDirectories: true)
    }

    func store(files: FileSystem = FileSystem()) throws -> FolderStore {
        try FolderStore(name: "folder:\(root)", path: root, kit: "heron07", files: files)
    }

    @Test("a folder does what every store does")
    func all() async throws { try await trial.check(try store()) }

    @Test("copies have the time of the take, the sidecar's too")
    func times() async throws {
        let store = try store()
        for file in ["wav", "dat", "json"] {
            let object = trial.name("heron07-0042-061811Z.\(file)")
            let source = try await trial.source(try trial.file(file, byteCount: 3_000_000))
            _ = try await store.put(source, as: object, try await trial.metadata(source), mode: .create) { _ in }
            let attributes = try FileManager.default.attributesOfItem(atPath: "\(root)/\(object)")
            let modified = try #require(attributes[.modificationDate] as? Date)
            #expect(modified == Date(timeIntervalSince1970: 1_795_241_891.25), "\(file)")
        }
        // A time from a clock that was not set is ignored.
        let source = try await trial.source(try trial.file("b", byteCount: 3))
        var metadata = try await trial.metadata(source)
        metadata.started = "1970-01-01T00:10:00.000000Z"
        let object = trial.name("heron07-0043-061811Z.wav")
        _ = try await store.put(source, as: object, metadata, mode: .create) { _ in }
        let attributes = try FileManager.default.attributesOfItem(atPath: "\(root)/\(object)")
        #expect(try #require(attributes[.modificationDate] as? Date) > Date(timeIntervalSince1970: 1_700_000_000))
    }

    @Test("a folder that is not there is away, and is not made")
    func away() async throws {
        let store = try store()
        try FileManager.default.removeItem(atPath: root)
        let source = try await trial.source(try trial.file("a", byteCount: 10))
        let metadata = try await trial.metadata(source)
        await trial.expectProblem(.away) {
            _ = try await store.put(source, as: trial.name("heron07-0042-061811Z.wav"), metadata, mode: .create) { _ in
            }
        }
        #expect(!FileManager.default.fileExists(atPath: root))
    }

    @Test("a copy that was cut goes on, and one whose beginning was damaged is found, and begins anew")
    func resume() async throws {
        let path = try trial.file("a", byteCount: 5_000_000)
        let source = try await trial.source(path)
        let object = trial.name("heron07-0042-061811Z.wav")
        let metadata = try await trial.metadata(source)
        let day = "\(root)/2026-11-21"
        try FileManager.default.createDirectory(atPath: day, withIntermediateDirectories: true)
        let draft = URL(filePath: "\(day)/.\(try trial.draft(object, of: path)).part")
        var begun = try Data(contentsOf: URL(filePath: path)).prefix(3_500_000)
        begun[begun.startIndex + 7] ^= 1
        try begun.write(to: draft)
        await trial.expectProblem(.damaged) {
            _ = try await store().put(source, as: object, metadata, mode: .create) { _ in }
        }
        #expect(!FileManager.default.fileExists(atPath: "\(day)/heron07-0042-061811Z.wav"))
        begun[begun.startIndex + 7] ^= 1
        try begun.write(to: draft)
        _ = try await store().put(source, as: object, metadata, mode: .create) { _ in }
        #expect(try await trial.contents(of: object, in: try store()) == Data(contentsOf: URL(filePath: path)))
        #expect(!FileManager.default.fileExists(atPath: draft.path))
        // Drafts of another kit, or of a take without a finished copy, may still be completed.
        for file in [
            ".heron07-0042-061811Z.wav.part", ".heron08-0042-061811Z.wav.part", ".heron07-0043-061811Z.wav.part",
            ".heron07-0042-061811Z.wav.12ab34ef.part",
        ] {
            try begun.write(to: URL(filePath: "\(day)/\(file)"))
        }
        try await store().tidy()
        #expect(
            try FileManager.default.contentsOfDirectory(atPath: day).sorted() == [
                ".heron07-0043-061811Z.wav.part", ".heron08-0042-061811Z.wav.part", "heron07-0042-061811Z.wav",
            ])
    }

    @Test("two kits of one name that copy different files of one name do not write into the same one")
    func twins() async throws {
        let path = try trial.file("a", byteCount: 5_000_000)
        let other = try trial.file("b", byteCount: 5_000_000, seed: 2)
        let object = trial.name("heron07-0042-061811Z.wav")
        let slow = try await UploadSource(
            path: other, reader: trial.reader, throttle: Throttle(kilobitsPerSecond: 400_000))
        let metadata = try await trial.metadata(slow)
        // The other kit's copy is interrupted.
        let task = Task {
            _ = try await store().put(slow, as: object, metadata, mode: .create) { progress in
                if case .sent(let sent) = progress, sent >= 2_000_000 { withUnsafeCurrentTask { $0?.cancel() } }
            }
        }
        await #expect(throws: CancellationError.self) { try await task.value }
        let source = try await trial.source(path)
        _ = try await store().put(source, as: object, try await trial.metadata(source), mode: .create) { _ in }
        await trial.expectProblem(.conflict) {
            _ = try await store().put(slow, as: object, metadata, mode: .create) { _ in }
        }
        #expect(try await trial.contents(of: object, in: try store()) == Data(contentsOf: URL(filePath: path)))
    }

    @Test("a link on a stick leads nowhere")
    func links() async throws {
        let source = try await trial.source(try trial.file("a", byteCount: 10))
        let metadata = try await trial.metadata(source)
        let elsewhere = "\(trial.folder)/elsewhere"
        try FileManager.default.createDirectory(atPath: elsewhere, withIntermediateDirectories: true)
        try FileManager.default.createSymbolicLink(atPath: "\(root)/2026-11-21", withDestinationPath: elsewhere)
        let object = trial.name("heron07-0042-061811Z.wav")
        // A person must act: inserting another stick would not help.
        await trial.expectProblem(.conflict) {
            _ = try await store().put(source, as: object, metadata, mode: .create) { _ in }
        }
        let link = "\(trial.folder)/link"
        try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: elsewhere)
        let stick = try FolderStore(name: "stick", path: link, kit: "heron07", followsLink: false)
        await trial.expectProblem(.away) {
            _ = try await stick.put(source, as: object, metadata, mode: .create) { _ in }
        }
        #expect(try FileManager.default.contentsOfDirectory(atPath: elsewhere) == [])
        let folder = try FolderStore(name: "folder", path: link, kit: "heron07")
        _ = try await folder.put(source, as: object, metadata, mode: .create) { _ in }
    }

    @Test(
        "what is said to be there outlives a power cut, also after the library was killed at any write",
        arguments: [false, true])
    func powerCuts(isFAT: Bool) async throws {
        let path = try trial.file("a", byteCount: 2_500_000)
        let content = try [UInt8](Data(contentsOf: URL(filePath: path)))
        let object = trial.name("heron07-0042-061811Z.wav")
        var limit = 0
        var wasKilled = true
        while wasKilled {
            let root = "\(trial.folder)/stick-\(limit)"
            try FileManager.default.createDirectory(atPath: root, withIntermediateDirectories: true)
            let disk = try PowerCutDisk(root: root, isFAT: isFAT)
            let files = FileSystem(calls: disk)
            func put() async throws {
                let source = try await trial.source(path)
                let store = try FolderStore(name: "stick", path: root, kit: "heron07", files: files)
                _ = try await store.put(source, as: object, try await trial.metadata(source), mode: .create) { _ in }
            }
            disk.limit = limit
            do {
                try await put()
                wasKilled = false
            } catch {
                disk.limit = .max
                try await put()
            }
            #expect(disk.isSure(folder: "2026-11-21"), "killed at \(limit)")
            for loss in PowerCut.Loss.allCases where (loss == .apart) == isFAT || loss == .nothing {
                let left = disk.files(after: disk.count, losing: loss)
                #expect(left[object.path] == content, "killed at \(limit), losing \(loss)")
                #expect(left.keys.allSatisfy { !$0.contains("/.") }, "killed at \(limit), losing \(loss): \(left.keys)")
            }
            try FileManager.default.removeItem(atPath: root)
            limit += 1
        }
        #expect(limit > 8)
    }

    @Test("a folder within that of the takes, or around it, is no home for them")
    func apartFromTakes() async throws {
        let root = "\(trial.folder)/apart"
        for folder in ["takes/home", "other"] {
            try FileManager.default.createDirectory(atPath: "\(root)/\(folder)", withIntermediateDirectories: true)
        }
        try FileManager.default.createSymbolicLink(atPath: "\(root)/link", withDestinationPath: "takes/home")
        let places: [(String, String?)] = [
            ("takes", "is"), ("takes/home", "lies in"), ("link", "lies in"), (".", "has in it"), ("other", nil),
        ]
        for (place, relation) in places {
            let path = "\(root)/\(place)"
            let store = try FolderStore(name: "folder", path: path, kit: "heron07", takes: ["\(root)/takes"])
            let object = trial.name("heron07-0042-061811Z.wav")
            guard let relation else {
                #expect(try await store.head(object) == nil)
                continue
            }
            let error = await #expect(throws: StoreError.self) { _ = try await store.head(object) }
            #expect(
                error
                    == StoreError(
                        .refused,
                        "outbox: \(path): \(relation) \(root)/takes, the takes themselves: name another folder"))
        }
    }

    @Test("a day's folder that is the one of the takes themselves is refused, and no copy")
    func boundDay() async throws {
        let takes = "\(trial.folder)/takes"
        for folder in [takes, root] {
            try FileManager.default.createDirectory(
                atPath: "\(folder)/2026-11-21", withIntermediateDirectories: true)
        }
        let path = "\(takes)/2026-11-21/heron07-0042-061811Z.wav"
        let object = trial.name("heron07-0042-061811Z.wav")
        for folder in [takes, root] { try Data("sound".utf8).write(to: URL(filePath: "\(folder)/\(object)")) }
        let calls = BoundFolder(bound: "\(root)/2026-11-21", to: "\(takes)/2026-11-21")
        let store = try FolderStore(
            name: "folder:\(root)", path: root, kit: "heron07", takes: [takes], files: FileSystem(calls: calls))
        let refusal = StoreError(
            .refused,
            "outbox: \(root)/2026-11-21: is \(takes)/2026-11-21, the takes themselves: name another folder")
        let source = try await trial.source(path)
        let metadata = try await trial.metadata(source)
        let put = await #expect(throws: StoreError.self) {
            _ = try await store.put(source, as: object, metadata, mode: .create) { _ in }
        }
        let head = await #expect(throws: StoreError.self) { _ = try await store.head(object) }
        let list = await #expect(throws: StoreError.self) { try await store.list { _ in } }
        let delete = await #expect(throws: StoreError.self) { try await store.delete(object) }
        #expect([put, head, list, delete] == [refusal, refusal, refusal, refusal])
        #expect(FileManager.default.fileExists(atPath: "\(root)/\(object)"))
    }

    @Test("the take's own file, under a name in the store, is refused, and no copy")
    func ownFile() async throws {
        let path = try trial.file("a", byteCount: 10)
        let object = trial.name("heron07-0042-061811Z.wav")
        try FileManager.default.createDirectory(atPath: "\(root)/2026-11-21", withIntermediateDirectories: true)
        try FileManager.default.linkItem(atPath: path, toPath: "\(root)/\(object)")
        let source = try await trial.source(path)
        let metadata = try await trial.metadata(source)
        let error = await #expect(throws: StoreError.self) {
            _ = try await store().put(source, as: object, metadata, mode: .create) { _ in }
        }
        #expect(
            error
                == StoreError(
                    .refused, "outbox: \(root)/\(object): is \(path), the takes themselves: name another folder"))
    }
}

/// The real file system, with a folder that is also mounted in another place.
private struct BoundFolder: ForwardedCalls {
    let kernel = KernelCalls()
    let bound: String
    let to: String

    func identity(_ path: String) throws(Errno) -> FileIdentity { try kernel.identity(path == bound ? to : path) }
}
