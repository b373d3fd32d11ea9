import Files
import FinishedTakes
import Foundation
import Glibc
import StoreTrials
import TakeFiles
import Takes
import Testing

@testable import Upload

/// Adopted sticks, and other sticks.
struct StickTests {
    private let trial: StoreTrial
    private let sticks: HomeSticks
    private let disk = TakesOnDisk()
    private let object: ObjectName

    init() throws {
        trial = try StoreTrial()
        sticks = HomeSticks.open(in: trial.folder).0
        object = trial.name("heron07-0042-061811Z.wav")
    }

    private func path(_ name: String) -> String { "\(trial.folder)/\(name)" }

    /// A stick with the folder for takes.
    private func stick(_ name: String) throws -> FolderStore {
        try FileManager.default.createDirectory(atPath: path(name), withIntermediateDirectories: true)
        return try FolderStore(
            name: "stick", path: path(name), kit: "heron07", followsLink: false, sticks: sticks)
    }

    private func put(_ text: String, on stick: FolderStore) async throws {
        let source = UploadSource(Array(text.utf8), called: "a", reader: trial.reader)
        _ = try await stick.put(source, as: object, try await trial.metadata(source), mode: .create) { _ in }
    }

    private func files(_ name: String) throws -> [String] {
        try FileManager.default.subpathsOfDirectory(atPath: path(name)).sorted()
    }

    @Test func `a stick that was not adopted gets nothing, and nothing of it is read, listed or deleted`() async throws
    {
        let stick = try stick("a")
        let day = path("a/2026-11-21")
        try FileManager.default.createDirectory(atPath: day, withIntermediateDirectories: true)
        try "sound".write(toFile: path("a/\(object.path)"), atomically: true, encoding: .utf8)
        let draft = "\(day)/.\(object.file).12345678.part"
        try "draft".write(toFile: draft, atomically: true, encoding: .utf8)
        let before = try files("a")
        await trial.expectProblem(.unadopted) { try await put("sound", on: stick) }
        await trial.expectProblem(.unadopted) { _ = try await stick.head(object) }
        await trial.expectProblem(.unadopted) { try await stick.list { _ in } }
        await trial.expectProblem(.unadopted) { try await stick.get(object) { _ in } }
        await trial.expectProblem(.unadopted) { try await stick.delete(object) }
        await trial.expectProblem(.unadopted) { try await stick.tidy() }
        await trial.expectProblem(.unadopted) { _ = try await stick.medium() }
        #expect(try files("a") == before)
        #expect(try await stick.home.standing() == .other([]))
    }

    @Test func `an adopted stick is home, also after a restart and for another kit that adopts it`() async throws {
        let stick = try stick("a")
        let mark = try await stick.home.adopt().mark
        let again = try await stick.home.adopt()
        #expect(again.mark == mark && !again.isNew && mark.name.count == 32)
        #expect(try await stick.home.standing() == .home(mark))
        #expect(try await stick.medium() == mark.name)
        try await put("sound", on: stick)
        #expect(HomeSticks.open(in: trial.folder).0.has(mark))
        let other = try StoreTrial()
        let elsewhere = try FolderStore(
            name: "stick", path: path("a"), kit: "wren01", sticks: HomeSticks.open(in: other.folder).0)
        #expect(try await elsewhere.home.standing() == .other([mark]))
        #expect(try await elsewhere.home.adopt().mark != mark)
        // Both kits have adopted the stick.
        #expect(try await stick.home.standing() == .home(mark))
        let second = try self.stick("b")
        #expect(try await second.home.adopt().mark != mark)
    }

    @Test func `a mark that is a link, a folder or nonsense is none, and adopting replaces what it can`() async throws {
        let stick = try stick("a")
        let secret = path("secret.json")
        let mark = try await self.stick("b").home.adopt().mark
        try FileManager.default.copyItem(atPath: path("b/.stick.json"), toPath: secret)
        try FileManager.default.createSymbolicLink(atPath: path("a/.stick.json"), withDestinationPath: secret)
        #expect(try await stick.home.standing() == .other([]))
        #expect(try await stick.home.adopt().mark != mark)
        #expect(try await self.stick("b").home.standing() == .home(mark))
        let long = String(repeating: " ", count: 5000)
        for content in [
            "", "{}", #"{"sticks":["../../etc/passwd"]}"#, #"{"sticks":["\#(mark.name.uppercased())"]}"#, long,
        ] {
            try content.write(toFile: path("a/.stick.json"), atomically: true, encoding: .utf8)
            #expect(try await stick.home.standing() == .other([]), "\(content)")
        }
        try FileManager.default.removeItem(atPath: path("a/.stick.json"))
        mkdir(path("a/.stick.json"), 0o755)
        #expect(try await stick.home.standing() == .other([]))
        await #expect(throws: FileError.self) { _ = try await stick.home.adopt() }
    }

    @Test func `where no stick is in, none is offered, and adopting says so`() async throws {
        let stick = try stick("a")
        try FileManager.default.removeItem(atPath: path("a"))
        #expect(try await stick.home.standing() == StickFolder.Standing.none)
        await #expect(throws: FileError.self) { _ = try await stick.home.adopt() }
        await trial.expectProblem(.away) { try await put("sound", on: stick) }
    }

    @Test func `a list that is damaged is kept, and said, and adopts anew`() async throws {
        let stick = try stick("a")
        _ = try await stick.home.adopt()
        let list = path("sticks.json")
        try "half a li".write(toFile: list, atomically: true, encoding: .utf8)
        let (found, problem) = HomeSticks.open(in: trial.folder)
        #expect(
            problem
                == "stick: \(list): is not a list of sticks: kept as \(list).damaged: no stick is home before it is adopted "
                + "again, or has a take that this kit sent")
        let again = try FolderStore(name: "stick", path: path("a"), kit: "heron07", sticks: found)
        guard case .other(let marks) = try await again.home.standing(), marks.count == 1 else {
            return #expect(Bool(false))
        }
        _ = try await again.home.adopt()
        #expect(HomeSticks.open(in: trial.folder).problem == nil)
    }

    @Test func `a list that cannot be written adopts no stick`() async throws {
        let stick = try stick("a")
        mkdir(path("sticks.json.tmp"), 0o755)
        await #expect(throws: FileError.self) { _ = try await stick.home.adopt() }
        guard case .other = try await stick.home.standing() else { return #expect(Bool(false)) }
    }

    // MARK: Receipts

    private func deliver(_ name: TakeName, _ notes: TakeDeliveryTests.Notes, to stick: FolderStore) async throws
        -> UploadReceipt
    {
        let delivery = TakeDelivery(
            name, in: TakesFolder(path: disk.takes), to: stick, reader: trial.reader, throttle: nil)
        return try await delivery.run(
            await notes.notes, now: { TakesOnDisk.morning }, report: { _ in }, save: { await notes.change($0) })
    }

    @Test func `a receipt names the stick, and a take that changes is sent whole to another one`() async throws {
        let name = try disk.add(TakesOnDisk.sidecar(42), audioBytes: 5000)
        let notes = TakeDeliveryTests.Notes(name.stem)
        let (first, second) = (try stick("a"), try stick("b"))
        let (mark, other) = (try await first.home.adopt().mark, try await second.home.adopt().mark)
        #expect(try await deliver(name, notes, to: first).stick == mark.name)
        await notes.change { $0.memo = "by the river" }
        let receipt = try await deliver(name, notes, to: second)
        #expect(receipt.stick == other.name && receipt.isComplete(revision: 1))
        let files = ["json", "notes.json", "txt", "wav"].map { "\(name.stem).\($0)" }
        #expect(try FileManager.default.contentsOfDirectory(atPath: path("b/\(name.day)")).sorted() == files)
        // Back on the first stick: the memo is new there, and the sound is compared.
        await notes.change { $0.memo = "by the lake" }
        #expect(try await deliver(name, notes, to: first).stick == mark.name)
        #expect(try FileManager.default.contentsOfDirectory(atPath: path("a/\(name.day)")).sorted() == files)
        #expect(try String(contentsOfFile: path("a/\(name.day)/\(name.stem).txt"), encoding: .utf8) == "by the lake\n")
        // The second stick has an older memo, which is this kit's own.
        await notes.change { $0.memo = "by the sea" }
        #expect(try await deliver(name, notes, to: second).stick == other.name)
        #expect(try String(contentsOfFile: path("b/\(name.day)/\(name.stem).txt"), encoding: .utf8) == "by the sea\n")
    }

    @Test func `a receipt of an earlier version names no stick, and what changes is compared on the one that is in`()
        async throws
    {
        let name = try disk.add(TakesOnDisk.sidecar(42), audioBytes: 5000)
        let notes = TakeDeliveryTests.Notes(name.stem)
        let stick = try stick("a")
        _ = try await stick.home.adopt()
        _ = try await deliver(name, notes, to: stick)
        await notes.change { $0[receiptOf: "stick"]?.stick = nil }
        let other = try self.stick("b")
        let mark = try await other.home.adopt().mark
        await notes.change { $0.memo = "by the river" }
        let receipt = try await deliver(name, notes, to: other)
        #expect(receipt.stick == mark.name)
        #expect(FileManager.default.fileExists(atPath: path("b/\(name.day)/\(name.stem).wav")))
    }

    @Test func `sticks that are swapped while a take is sent make no receipt`() async throws {
        let name = try disk.add(TakesOnDisk.sidecar(42), audioBytes: 5000)
        let notes = TakeDeliveryTests.Notes(name.stem)
        let stick = try stick("a")
        _ = try await stick.home.adopt()
        _ = try await self.stick("b").home.adopt()
        let delivery = TakeDelivery(
            name, in: TakesFolder(path: disk.takes), to: stick, reader: trial.reader, throttle: nil)
        let (a, b, c) = (path("a"), path("b"), path("c"))
        await trial.expectProblem(.away) {
            _ = try await delivery.run(
                await notes.notes, now: { TakesOnDisk.morning },
                report: { progress in
                    // The sound is on the first stick, but has its final name on neither yet.
                    guard case .verifying = progress, rename(a, c) == 0 else { return }
                    rename(b, a)
                }, save: { await notes.change($0) })
        }
        #expect(await notes.notes[receiptOf: "stick"]?.completed == nil)
    }
}

extension FolderStore {
    /// The folder on the stick.
    fileprivate var home: StickFolder {
        get throws { try #require(traits.stick) }
    }
}
