import Catalog
import Commands
import Control
import DiskCalls
import Files
import FinishedTakes
import Foundation
import Logging
import OtherPrograms
import ServiceLifecycle
import StoreTrials
import TakeFiles
import Takes
import Testing
import Transport
import Upload

@testable import Library

/// The output of a command.
private final class Paper: Console {
    var output = ""
    var complaints: [String] = []
    var typed: String?
    var isTerminal: Bool { false }
    var width: Int { 80 }
    var showsUnicode: Bool { true }

    func write(_ text: String) throws(Failure) { output += text }
    func complain(_ sentence: String) { complaints.append(sentence) }
    func ask(_ question: String) -> String? {
        complaints.append(question)
        return typed
    }
}

/// A folder store whose answers a test can change.
struct StatingStore: FolderFront {
    let folder: FolderStore
    /// Listed instead of the real files.
    var listed: [StoredObject]?
    /// How many times `get` delivers each file's content.
    var repeats = 1
    var afterList: @Sendable () async throws -> Void = {}
    var onPiece: @Sendable () -> Void = {}

    func list(_ receive: ([StoredObject]) async throws -> Void) async throws {
        if let listed { try await receive(listed) } else { try await folder.list(receive) }
        try await afterList()
    }
    func get(_ object: ObjectName, _ receive: ([UInt8]) async throws -> Void) async throws {
        var content: [UInt8] = []
        try await folder.get(object) { content += $0 }
        let most = 100
        for left in stride(from: repeats, to: 0, by: -most) {
            onPiece()
            try await receive(Array(repeatElement(content, count: min(most, left)).joined()))
        }
    }
}

/// `fieldfare remote`, from the command line through the library to a folder and back.
@Suite(.waitsOnNamedThreads, .timeLimit(.minutes(15))) struct RemoteTests {
    let tested: TestedIndexer
    let store: FolderStore
    let names: [TakeName]
    var home: String { "\(tested.disk.path)/home" }

    init() async throws {
        let disk = TakesOnDisk()
        let tested = try TestedIndexer(disk, stores: ["folder:\(disk.path)/home"])
        self.tested = tested
        let home = "\(tested.disk.path)/home"
        try FileManager.default.createDirectory(atPath: home, withIntermediateDirectories: true)
        let store = try FolderStore(name: "folder:\(home)", path: home, kit: "heron07")
        self.store = store
        var names: [TakeName] = []
        for (number, seconds) in [(1, 0.52), (2, 0.001)] {
            names.append(try tested.disk.addSound(TakesOnDisk.sidecar(number, seconds: seconds)).name)
        }
        self.names = names
        await tested.indexer.scanAll()
        for name in names { try await Self.send(name, to: store, tested) }
    }

    static func send(_ name: TakeName, to store: FolderStore, _ tested: TestedIndexer) async throws {
        let catalogs = tested.catalogs
        let delivery = TakeDelivery(
            name, in: TakesFolder(path: tested.disk.takes), to: store, reader: try DiskReader(name: "reader"),
            throttle: nil)
        _ = try await delivery.run(
            try catalogs.catalog.notes(of: name.stem), now: { TakesOnDisk.morning }, report: { _ in },
            save: { change in _ = try catalogs.catalog.note(name.stem, change) })
    }

    /// The outputs of commands, while a library serves them.
    func run(
        _ commands: [[String]], typing typed: String? = nil, of other: (any Store)? = nil
    ) async throws -> [(status: Int32, output: [String], complaints: [String])] {
        let path = "\(tested.disk.path)/\(UInt32.random(in: 0 ... .max)).sock"
        let log = tested.log
        let store = other ?? store
        let stores = Stores([StorePlan(name: store.name) { store }])
        let requests = tested.requests {}
        let copies = try RemoteCopies(stores, tested.catalogs)
        let remote = try RemoteDesk(stores, tested.catalogs, copies)
        let server = LibraryServer(
            path: path, requests, remote, try tested.deletion(requests, copies), try tested.sticks,
            log: Logger(label: "test") { _ in log })
        try server.listen()
        let group = ServiceGroup(
            services: [server], logger: Logger(label: "services") { _ in SwiftLogNoOpLogHandler() })
        let running = Task { try await group.run() }
        let results = Locked<[(Int32, [String], [String])]>([])
        try await onThread {
            for words in commands {
                let paper = Paper()
                paper.typed = typed
                let status = Fieldfare.run(["--library-socket", path] + words, in: Session(console: paper))
                let lines = paper.output.split(separator: "\n").map(String.init)
                results.withLock { $0.append((status, lines, paper.complaints)) }
            }
        }
        await group.triggerGracefulShutdown()
        try await running.value
        return results.withLock { $0 }
    }

    @Test func `takes are listed, fetched bit for bit, and never over a file that is there`() async throws {
        let to = "\(tested.disk.path)/fetched"
        try FileManager.default.createDirectory(atPath: to, withIntermediateDirectories: true)
        let fetch = ["remote", "fetch", "--to", to, names[0].stem]
        let results = try await run([
            ["remote", "list"], ["--json", "remote", "list"], fetch, fetch, ["remote", "fetch", "9"],
        ])
        #expect(results[0].status == 0)
        #expect(results[0].output.count == 3 && results[0].output[0].contains("heron07-0002_20261121_061811  2 files"))
        #expect(results[0].output[2].hasPrefix("folder:\(home): 2 takes, "))
        let list = try JSONValue(decoding: Array(results[1].output[0].utf8))
        guard case .array(let takes)? = list["takes"] else { return #expect(Bool(false), "\(list)") }
        #expect(takes.map { $0["complete"] } == [.bool(true), .bool(true)])
        #expect(results[2].status == 0 && results[2].output.count == 2)
        for file in ["wav", "json"].map({ "\(names[0].day)/\(names[0].stem).\($0)" }) {
            #expect(
                try Data(contentsOf: URL(filePath: "\(to)/\(file)"))
                    == Data(contentsOf: URL(filePath: "\(home)/\(file)")))
        }
        #expect(results[3].status == 73 && results[3].complaints[0].contains("is there already"))
        #expect(
            results[4].status == 66
                && results[4].complaints == ["remote fetch: 9: folder:\(home) has no such take"])
    }

    @Test func `what people noted is listed, fetched, verified and deleted with its take`() async throws {
        let (stem, day, catalog) = (names[0].stem, names[0].day, tested.catalogs.catalog)
        _ = try catalog.note(stem) { notes in
            notes.memo = "by the weir"
            notes.tag(adding: ["owl"], removing: [])
        }
        #expect(try catalog.sentTakes(limit: 9).map(\.take.stem) == [names[1].stem])
        let delivery = TakeDelivery(
            names[0], in: TakesFolder(path: tested.disk.takes), to: store, reader: try DiskReader(name: "reader"),
            throttle: nil)
        _ = try await delivery.run(
            try catalog.notes(of: stem), now: { TakesOnDisk.morning }, report: { _ in },
            save: { change in _ = try catalog.note(stem, change) })
        #expect(try catalog.sentTakes(limit: 9).map(\.take.stem) == names.map(\.stem))
        let to = "\(tested.disk.path)/fetched"
        try FileManager.default.createDirectory(atPath: to, withIntermediateDirectories: true)
        let results = try await run([
            ["remote", "list"], ["remote", "fetch", "--to", to, stem], ["--json", "remote", "verify", "--read"],
        ])
        #expect(results[0].output.contains { $0.contains("\(stem)  4 files") && !$0.contains("not complete") })
        #expect(results[1].status == 0 && results[1].output.contains("\(to)/\(day)/\(stem).notes.json"))
        #expect(results[2].status == 0 && results[2].output[0].contains("\(day)/\(stem).notes.json"))
        // A program that reads takes must find one there.
        let found = try TakesFolder(path: to).takes()
        #expect(found.takes == [names[0]] && found.unreadable.isEmpty)
        let deleted = try await run([["remote", "delete", "--yes", stem]])
        #expect(deleted[0].status == 0, "\(deleted[0].complaints)")
        #expect(
            try FileManager.default.contentsOfDirectory(atPath: "\(home)/\(day)").sorted()
                == ["json", "wav"].map { "\(names[1].stem).\($0)" })
    }

    @Test func `notes at home that no receipt names are deleted with their take`() async throws {
        let (stem, day) = (names[0].stem, names[0].day)
        try Data("{}".utf8).write(to: URL(filePath: "\(home)/\(day)/\(stem).notes.json"))
        _ = try tested.catalogs.catalog.note(stem) { $0.receipts = [] }
        #expect(try await run([["remote", "delete", "--yes", stem]])[0].status == 0)
        #expect(
            try FileManager.default.contentsOfDirectory(atPath: "\(home)/\(day)").sorted()
                == ["json", "wav"].map { "\(names[1].stem).\($0)" })
    }

    @Test func `what was sent without an answer is deleted at home with its take, and nothing of another's`()
        async throws
    {
        let (stem, day) = (names[0].stem, names[0].day)
        let sent = Array("by the weir\n".utf8)
        let object = ObjectName(day: day, file: "\(stem).txt")
        try tested.disk.write(sent, to: "\(home)/\(object)")
        let sha256 = try await store.sha256(of: object, byteCount: Int64(sent.count))
        let attempt = TakeNotes.FileHash(file: object.file, bytes: Int64(sent.count), sha256: sha256)
        for (text, isOwn) in [(sent, true), (Array("by the lake\n".utf8), false)] {
            // The sidecar, which is sent last, did not arrive.
            try? FileManager.default.removeItem(atPath: "\(home)/\(day)/\(stem).json")
            try tested.disk.write(text, to: "\(home)/\(day)/\(stem).txt")
            _ = try tested.catalogs.catalog.note(stem) { notes in
                var receipt = UploadReceipt(store: store.name)
                receipt.attempt(attempt)
                notes[receiptOf: store.name] = receipt
            }
            let copies = try tested.copies([StorePlan(name: store.name) { [store] in store }])
            let copy = try KitCopy(names[0], in: tested.disk.takes)
            try await copies.deleteEverywhere(copy, in: nil, leavesKit: false)
            #expect(FileManager.default.fileExists(atPath: "\(home)/\(day)/\(stem).txt") == !isOwn)
            #expect(!FileManager.default.fileExists(atPath: "\(home)/\(day)/\(stem).wav"))
        }
    }

    @Test func `a copy that was damaged at home is not fetched, and is reported`() async throws {
        let wav = "\(names[0].day)/\(names[0].stem).wav"
        var bytes = try Data(contentsOf: URL(filePath: "\(home)/\(wav)"))
        bytes[50_000] ^= 1
        try bytes.write(to: URL(filePath: "\(home)/\(wav)"))
        try FileManager.default.removeItem(atPath: "\(home)/\(names[1].day)/\(names[1].stem).json")
        let to = "\(tested.disk.path)/fetched"
        try FileManager.default.createDirectory(atPath: to, withIntermediateDirectories: true)
        let results = try await run([
            ["remote", "fetch", "--to", to, names[0].stem], ["remote", "verify", "--read"], ["remote", "verify"],
        ])
        #expect(results[0].status == 65 && results[0].complaints[0].contains("its hash differs"))
        #expect(!FileManager.default.fileExists(atPath: "\(to)/\(wav)"))
        #expect(results[1].status == 65)
        #expect(results[1].output.contains("  \(wav): differs from what was recorded"))
        #expect(results[1].output.contains("  \(names[1].day)/\(names[1].stem): not complete: no sidecar"))
        // The length alone is unchanged. The report says that only the length was compared.
        #expect(
            !results[2].output.contains { $0.contains(wav) } && results[2].output[1].hasSuffix("by length alone: 1"))
        #expect(
            results[2].output[0].contains(": 2 takes, 1 file as recorded, 1 of the same length, "),
            "\(results[2].output)")
    }

    @Test(arguments: ["cut", "changed", "accepted"])
    func `sound that was damaged before it was sent is not said to be as recorded`(damage: String) async throws {
        let (stem, day) = (names[0].stem, names[0].day)
        let (wav, sidecarPath) = ("\(home)/\(day)/\(stem).wav", "\(home)/\(day)/\(stem).json")
        var bytes = try FileSystem().contents(wav)
        if damage == "cut" { bytes.removeLast(50_000) } else { bytes[5000] ^= 1 }
        try tested.disk.write(bytes, to: wav)
        // The hash is that of the damaged bytes: an older library did not compare more than that.
        var sidecar = try SidecarFile.sidecar(FileSystem().contents(sidecarPath), path: sidecarPath)
        var digest = SoundDigest()
        digest.update(bytes)
        sidecar.parts[0].sha256 = digest.hexadecimal
        if damage == "accepted" { sidecar.parts[0].acceptedSHA256 = digest.hexadecimal }
        try tested.disk.write(SidecarFile.bytes(sidecar), to: sidecarPath)
        _ = try tested.catalog.note(stem) { $0.receipts = [] }
        let results = try await run([["remote", "verify", "--read"], ["remote", "verify"]])
        let line = "  \(day)/\(stem).wav: "
        #expect(results[0].status == 65 && results[0].output.contains { $0.hasPrefix(line) })
        // Without reading the file, only its length and the sidecar can show damage.
        #expect(results[1].output.contains { $0.hasPrefix(line) } == (damage != "changed"))
    }

    @Test(.needs(.sha256sum)) func `what is home is verified, with a manifest that other programs check`() async throws
    {
        let bag = "\(tested.disk.path)/bag"
        let results = try await run([["remote", "verify", "--read", "--bag", bag]])
        #expect(results[0].status == 0, "\(results[0].complaints)")
        #expect(results[0].output[0].contains(": 2 takes, 4 files as recorded, "))
        #expect(results[0].output[1] == "  by reading back: 4; by length alone: 0")
        try FileManager.default.copyItem(atPath: home, toPath: "\(bag)/data")
        let sums = try Process.run(
            URL(filePath: "/usr/bin/env"),
            arguments: ["-C", bag, OtherProgram.sha256sum.path, "--check", "--quiet", "manifest-sha256.txt"])
        sums.waitUntilExit()
        #expect(sums.terminationStatus == 0)
        #expect(try String(contentsOfFile: "\(bag)/bagit.txt", encoding: .utf8).hasPrefix("BagIt-Version: 1.0\n"))
        #expect(
            try String(contentsOfFile: "\(bag)/manifest-sha256.txt", encoding: .utf8).split(separator: "\n").count == 4)
    }

    @Test func `a take is deleted at home after a question, is not sent again, and stays on the kit`() async throws {
        let stem = names[0].stem
        let before = try await run([["remote", "delete", stem]])
        #expect(before[0].status == 64 && before[0].complaints.last?.contains("add --yes") ?? false)
        let refused = try await run([["remote", "delete", stem]], typing: "n")
        #expect(refused[0].output == ["nothing is deleted"])
        #expect(
            refused[0].complaints.last
                == "A store has no bin: takes deleted there cannot be restored. Delete this take in folder:\(home)? [y/N]"
        )
        #expect(try tested.catalogs.catalog.notes(of: stem).receipts.first?.completed != nil)
        let done = try await run([["remote", "delete", stem], ["remote", "list"]], typing: "y")
        #expect(done[0].status == 0 && done[0].output == ["deleted \(stem): the kit still has it"])
        #expect(done[0].complaints.contains { $0.hasPrefix(stem) && $0.hasSuffix("also on the kit") })
        #expect(!done[1].output.contains { $0.contains(stem) })
        let notes = try tested.catalogs.catalog.notes(of: stem)
        #expect(notes.receipts.allSatisfy { $0.completed == nil && $0.files.isEmpty } && notes.upload == .never)
        #expect(FileManager.default.fileExists(atPath: "\(tested.disk.takes)/\(names[0].day)/\(stem).wav"))
        #expect(try FileManager.default.contentsOfDirectory(atPath: "\(home)/\(names[0].day)").count == 2)
    }

    @Test func `a take whose sidecar was made anew is the one at home`() async throws {
        let stem = names[0].stem
        let path = "\(tested.disk.takes)/\(names[0].day)/\(stem).json"
        var sidecar = try TakesFolder(path: tested.disk.takes).sidecar(of: names[0])
        (sidecar.bootID, sidecar.startedMonotonicNs, sidecar.recovered) = ("", 0, true)
        (sidecar.parts[0].soundSHA256, sidecar.parts[0].fingerprint) = (nil, nil)
        try tested.disk.write(SidecarFile.bytes(sidecar), to: path + ".tmp")
        rename(path + ".tmp", path)
        await tested.indexer.scanAll()
        try await Self.send(names[0], to: store, tested)
        let copies = try tested.copies([StorePlan(name: store.name) { [store] in store }])
        let copy = try KitCopy(names[0], in: tested.disk.takes)
        #expect(copy.sidecar.isRebuilt)
        #expect(try await copies.storesWithout(copy, tested.catalog.notes(of: stem)).isEmpty)
        #expect(try await run([["remote", "delete", "--yes", stem]])[0].status == 0)
        #expect(try FileManager.default.contentsOfDirectory(atPath: "\(home)/\(names[0].day)").count == 2)
    }

    @Test func `a sidecar at home that does not end is read no further than one can be`() async throws {
        let pieces = Locked(0)
        let store = StatingStore(folder: store, repeats: 100_000, onPiece: { pieces.withLock { $0 += 1 } })
        let refused = try await run([["remote", "delete", "--yes", names[0].stem]], of: store)
        #expect(refused[0].status == 75 && refused[0].complaints[0].contains("is of another recording, or damaged"))
        #expect(pieces.withLock { $0 } < 200)
    }

    @Test func `a take that is being sent is not deleted at home: its receipt would name what is gone`() async throws {
        let (stem, inHand) = (names[0].stem, tested.catalogs.inHand)
        #expect(inHand.beginSending(.take(TakeIdentity(stem: stem))))
        let refused = try await run([["remote", "delete", "--yes", stem], ["remote", "list"]])
        #expect(refused[0].status == 75)
        #expect(refused[0].complaints == ["delete: \(stem): it is being sent: wait until it is there"])
        #expect(refused[1].output.contains { $0.contains("\(stem)  2 files") })
        let notes = try tested.catalogs.catalog.notes(of: stem)
        #expect(notes.receipts.count == 1 && notes.upload == nil)
        inHand.endSending(.take(TakeIdentity(stem: stem)))
        #expect(try await run([["remote", "delete", "--yes", stem]])[0].status == 0)
    }

    @Test func `a take on a storage that is out is not deleted at home: nobody can compare the two`() async throws {
        let (stem, takes) = (names[0].stem, "\(tested.disk.path)/takes")
        try FileManager.default.moveItem(atPath: takes, toPath: takes + ".out")
        await tested.indexer.handle(.mounts)
        let refused = try await run([["remote", "delete", "--yes", stem], ["remote", "list"]])
        #expect(refused[0].status == 75)
        #expect(refused[0].complaints == ["delete: \(stem): it is on a storage that is out: put it in first"])
        #expect(refused[1].output.contains { $0.contains("\(stem)  2 files") })
    }

    @Test func `what is deleted at home of a take that the catalog does not know leaves no receipt`() async throws {
        let stem = names[0].stem
        // As if the stick was removed, and the catalog rebuilt in the meantime.
        try tested.catalogs.replace()
        #expect(try tested.catalog.notes(of: stem).receipts.first?.completed != nil)
        let done = try await run([["remote", "delete", "--yes", stem]])
        #expect(done[0].status == 0 && done[0].output == ["deleted \(stem)"])
        let notes = try tested.catalog.notes(of: stem)
        #expect(notes.receipts.allSatisfy { $0.completed == nil && $0.files.isEmpty } && notes.upload == .never)
        await tested.indexer.scanAll()
        #expect(try tested.catalog.sentTakes(limit: 10).map(\.take.stem) == [names[1].stem])
    }

    @Test func `a take that is sent while the store is verified is not missing`() async throws {
        let stem = names[1].stem
        let receipts = try tested.catalog.notes(of: stem).receipts
        _ = try tested.catalog.note(stem) { $0.receipts = [] }
        let catalogs = tested.catalogs
        var there: [StoredObject] = []
        try await store.list { there += $0.filter { $0.name.take?.stem != stem } }
        let slow = StatingStore(
            folder: store, listed: there,
            afterList: { _ = try catalogs.catalog.note(stem) { $0.receipts = receipts } })
        let results = try await run([["remote", "verify"], ["remote", "verify"]], of: slow)
        #expect(results[0].status == 0, "\(results[0])")
        // The receipt now exists, but the file is still missing.
        #expect(results[1].output.last == "  \(stem): missing: it was sent, and is not there")
    }

    @Test func `a file that has more than the store lists ends nowhere, and figures that are too large end nothing`()
        async throws
    {
        let to = "\(tested.disk.path)/fetched"
        try FileManager.default.createDirectory(atPath: to, withIntermediateDirectories: true)
        let (stem, day) = (names[0].stem, names[0].day)
        let fetch = ["remote", "fetch", "--to", to, stem]
        func listed(_ byteCount: Int64, _ files: String...) -> [StoredObject] {
            files.map { StoredObject(name: ObjectName(day: day, file: $0), byteCount: byteCount, sha256: nil) }
        }
        let long = StatingStore(folder: store, listed: listed(1000, "\(stem).wav"))
        let tooLong = try await run([fetch], of: long)
        #expect(tooLong[0].status == 65)
        #expect(
            tooLong[0].complaints == [
                "remote fetch: \(to)/\(day)/\(stem).wav: is longer than the store lists it: see the store's copy"
            ])
        #expect(try FileManager.default.contentsOfDirectory(atPath: "\(to)/\(day)") == [])
        let endless = StatingStore(folder: store, listed: listed(1000, "\(stem).json"), repeats: 100_000)
        let sidecar = try await run([fetch], of: endless)
        #expect(sidecar[0].status == 65)
        #expect(
            sidecar[0].complaints == [
                "remote: \(day)/\(stem).json: is too long for a sidecar: see the store's copy"
            ])
        let large = StatingStore(folder: store, listed: listed(.max, "\(stem).wav", "\(stem).json"))
        let figures = try await run([["remote", "list"], ["--json", "remote", "list"]], of: large)
        #expect(figures.map(\.status) == [0, 0])
    }
}
