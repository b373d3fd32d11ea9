import Control
import Files
import Foundation
import Glibc
import TakeFiles
import TakePlaces
import Takes
import Testing

@testable import Commands

/// `takes --damaged`, with a library and from the folder alone, and the output of `show` and `doctor`.
@Suite final class DamagedTakesTests {
    private let folder = KitFolder()
    private static let why = "heron07-0002_20261121_061811.wav: it is cut: it ends after 7 of 96000 frames"

    private func library() throws -> DeskLibrary {
        try DeskLibrary([
            deskTake(1), deskTake(2) { ($0.sound, $0.damaged) = (.damaged, Self.why) }, deskTake(3),
        ])
    }

    @Test func `the library's damaged takes are listed, each with what is wrong`() throws {
        let library = try library()
        let result = run(["takes", "--damaged"], library: library)
        #expect(result.status == 0 && result.output.count == 2)
        #expect(result.output[0].hasPrefix("heron07-0002_20261121_061811") && result.output[0].contains("damaged"))
        #expect(result.output[1] == "  " + Self.why)
        guard case .takes(let query)? = library.messages.last else { return #expect(Bool(false)) }
        #expect(query.isDamaged == true)
        let json = try JSONValue(
            decoding: Array(run(["takes", "--damaged", "--json"], library: library).output[0].utf8))
        guard case .array(let takes)? = json["takes"] else { return #expect(Bool(false), "\(json)") }
        #expect(takes.map { $0["damaged"]?.text } == [Self.why] && takes[0]["sound"]?.text == "damaged")
    }

    @Test func `a take is accepted by the library, and by nobody else`() throws {
        let library = try library()
        let result = run(["takes", "--damaged", "--accept", "2"], library: library)
        #expect(
            result == (
                0,
                [
                    "accepted heron07-0002_20261121_061811 as it is: it is sent, and may be deleted as others are, unless one of its files is "
                        + "missing"
                ], []
            ))
        #expect(library.messages.last == .acceptDamaged(stem: "heron07-0002_20261121_061811"))
        #expect(run(["takes", "--damaged"], library: library).output == ["no such takes"])
        #expect(run(["takes", "--damaged", "--accept", "9"], library: library).status == 66)
        #expect(run(["takes", "--accept", "2"], library: library).status == 64)
        #expect(run(["takes", "--damaged", "--accept", "2"]).status == 69)
        #expect(run(["takes", "--damaged", "--accept", "2", "--directory", "/tmp"]).status == 64)
    }

    @Test func `without a library each take is read`() throws {
        let takes = try (1...3).map { _ in try folder.record(seconds: 1) }
        #expect(run(["takes", "--damaged"], access: folder.access).output == ["\(folder.path): no such takes"])
        let twin = "\(folder.path)/\(takes[1].day)/\(takes[1].stem.file("-raw.wav"))"
        #expect(unsafe truncate(twin, 10_000) == 0)
        let result = run(["takes", "--damaged"], access: folder.access)
        #expect(result.status == 0 && result.output.count == 2 && result.output[0].hasPrefix(takes[1].stem))
        #expect(
            result.output[1] == "  \(takes[1].stem.file("-raw.wav")): it is cut: it ends after 1476 of 48000 frames")
        let json = run(["takes", "--damaged", "--json"], access: folder.access).output
        #expect(json.count == 1 && json[0].contains("\"damaged\":\"\(takes[1].stem.file("-raw.wav")): it is cut"))
        #expect(!run(["takes", "--json"], access: folder.access).output[0].contains("\"damaged\""))
    }

    @Test func `a take with sound that its sidecar does not list is listed, and shown so`() throws {
        let take = try folder.record(seconds: 1)
        var sidecar = try TakesFolder(path: folder.path).sidecar(of: take)
        sidecar.parts[0].unfilteredFile = nil
        let path = "\(folder.path)/\(take.day)/\(take.stem).json"
        try FileSystem().write(SidecarFile.bytes(sidecar), to: FileSystem().create(path, isNew: false), at: 0)
        let why = "\(take.stem.file("-raw.wav")): the take's sidecar does not list this sound"
        let listed = run(["takes", "--damaged"], access: folder.access)
        #expect(listed.output.count == 2 && listed.output[1].hasPrefix("  \(why)"))
        #expect(run(["show", take.stem], access: folder.access).output.contains { $0.hasPrefix("damaged    \(why)") })
    }

    @Test func `show reads the take without a library, and judges it as a list does`() throws {
        let take = try folder.record(seconds: 1)
        func show(_ options: String...) -> [String] {
            run(["show", take.stem] + options, access: folder.access).output
        }
        #expect(!show().contains { $0.hasPrefix("damaged") } && !show("--json")[0].contains("\"damaged\""))
        let twin = "\(folder.path)/\(take.day)/\(take.stem.file("-raw.wav"))"
        #expect(unsafe truncate(twin, 10_000) == 0)
        let why = "\(take.stem.file("-raw.wav")): it is cut: it ends after 1476 of 48000 frames"
        #expect(show().contains("damaged    \(why)"))
        #expect(show().contains { $0.contains("until 'fieldfare takes --damaged --accept \(take.stem)'") })
        let json = try JSONValue(decoding: Array(show("--json")[0].utf8))
        #expect(json["damaged"]?.text == why && json["sound"]?.text == "damaged")
    }

    @Test func `doctor fails for them, while the library runs`() throws {
        let library = try library()
        let result = run(["doctor"], library: library)
        let line =
            "1 take is damaged, the first: heron07-0002_20261121_061811: \(Self.why): see 'fieldfare takes --damaged'"
        #expect(result.output.contains { $0.hasSuffix(line) })
        #expect(!run(["doctor"]).output.contains { $0.contains("damaged") })
    }

    @Test func `doctor names a take whose files cannot be read`() throws {
        let library = try library()
        #expect(!run(["doctor"], library: library).output.contains { $0.contains("cannot be used as they are") })
        let why = "notes: /l/takes/heron07-0003_20261121_061811.json: is used in part: tags.1 cannot be read"
        library.desk.problems.withLock { $0 = [("heron07-0003_20261121_061811", why)] }
        let line =
            "the files of 1 take cannot be used as they are, the first: heron07-0003_20261121_061811: \(why): repair that file, or put it "
            + "elsewhere"
        #expect(run(["doctor"], library: library).output.contains { $0.hasSuffix(line) })
    }

    @Test func `a take's text says how its sound stands`() {
        var sidecar = Sidecar(
            name: TakeName(kit: "heron07", number: 1, started: KitFolder.started), started: KitFolder.started,
            startedMonotonic: Instant(nanoseconds: 0), bootID: "boot", clock: .ntp, card: "c", format: KitFolder.format,
            preRollFrames: 0, gainDB: nil, agc: nil, version: "0")
        sidecar.parts = [Sidecar.Part(file: "a.wav", firstFrame: .first, frames: 5, format: KitFolder.format)]
        var notes = TakeNotes(take: sidecar.take)
        func lines() -> [String] { TakeText(sidecar).lines(folder: "f", notes: notes) { _ in 1 } }
        #expect(!lines().contains { $0.hasPrefix("sound") || $0.hasPrefix("damaged") })
        var note = TakeNotes.SoundNote(file: "a.wav", bytes: 1, modifiedNs: 1, frames: 5)
        (note.soundSHA256, note.fingerprint) = ("ab", .capture)
        notes.sounds = [note]
        #expect(lines().contains("sound      as recorded"))
        note.problem = "it is empty"
        notes.sounds = [note]
        #expect(lines().contains("damaged    a.wav: it is empty"))
        note.acceptedSHA256 = "cd"
        notes.sounds = [note]
        #expect(lines().contains("sound      not what was recorded: a person accepted it as it is"))
        // The findings do not apply to another state of the take.
        sidecar.parts[0].frames = 6
        #expect(!lines().contains { $0.hasPrefix("sound") || $0.hasPrefix("damaged") })
    }
}
