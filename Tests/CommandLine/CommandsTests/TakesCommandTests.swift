import Control
import Files
import Filters
import Glibc
import TakeFiles
import TakePlaces
import Takes
import Testing
import Transport

@testable import Commands

/// `takes` and `delete`, on real folders.
@Suite final class TakesCommandTests {
    private let folder = KitFolder()
    private var path: String { folder.path }
    private var kit: LocalAccess { folder.access }
    private let files = FileSystem()

    @discardableResult
    private func record(_ change: (TakeOutput, inout Sidecar) -> Void = { _, _ in }) throws -> TakeName {
        try folder.record(change)
    }

    /// A recorder whose takes are here.
    private func recorder() throws -> DeskRecorder {
        let recorder = try DeskRecorder()
        let path = path
        recorder.received.directory.withLock { $0 = path }
        return recorder
    }

    // MARK: takes

    @Test func `takes are listed from the folder, each with what is unusual, while the recorder is down`() throws {
        try record()
        try record { output, sidecar in
            output.note(.marker(Sidecar.Marker(atFrame: TakeFrame(100), note: "a wren")))
            output.note(.gap(at: TakeFrame(200), frames: 10, cause: .xrun))
            sidecar.clock = .unset
            sidecar.endedBy = .powerCut
            sidecar.recovered = true
            sidecar.pendingFormat = "flac"
        }
        #expect(
            run(["takes"], access: kit) == (
                0,
                [
                    "heron07-0001_20261121_061811  2026-11-21 06:18:11   0:00:02.0",
                    "heron07-0002_20261121_061811  2026-11-21 06:18:11?  0:00:02.0  1 marker, 1 gap, ended by power-cut, recovered, "
                        + "to be converted to flac",
                ], []
            ))
    }

    @Test func `as JSON they are one object, by the names of the sidecar`() throws {
        let take = try record { _, sidecar in sidecar.startedCorrected = "2026-11-21T07:18:11.000000Z" }
        let bytes = try files.entries("\(path)/2026-11-21").reduce(Int64(0)) { sum, file in
            try sum + files.length(files.open("\(path)/2026-11-21/\(file)"))
        }
        #expect(
            run(["takes", "--json"], access: kit) == (
                0,
                [
                    "{\"directory\":\"\(path)\",\"takes\":[{\"bytes\":\(bytes),\"channels\":2,\"clipped\":false,"
                        + "\"clock\":\"ntp\",\"counts\":{\"gaps\":0,\"markers\":0,\"parts\":1,\"suspected_losses\":0},"
                        + "\"duration_seconds\":2,\"ended_by\":\"stop\","
                        + "\"files\":[\"\(take.stem).wav\",\"\(take.stem.file("-raw.wav"))\"],"
                        + "\"folder\":\"\(path)/2026-11-21\","
                        + "\"format\":\"S16_LE\",\"frames\":96000,\"kit\":\"heron07\",\"kit_id\":null,\"number\":1,"
                        + "\"peak_dbfs\":-3.5,\"pending_format\":null,"
                        + "\"place\":\"here\",\"rate_hz\":48000,\"recovered\":false,\"revision\":2,"
                        + "\"rms_dbfs\":-20,\"span_seconds\":2,"
                        + "\"started\":\"2026-11-21T06:18:11.250000Z\","
                        + "\"started_corrected\":\"2026-11-21T07:18:11.000000Z\",\"take\":\"\(take.stem)\"}]}"
                ], []
            ))
    }

    @Test func `the recorder says where its takes are, and a person may name another folder`() throws {
        let take = try record()
        let recorder = try recorder()
        #expect(run(["takes"], at: recorder).output.first?.hasPrefix(take.stem) == true)
        #expect(run(["takes", "--directory", path + "/"], at: recorder).output.count == 1)
        #expect(
            run(["takes", "--directory", "/nowhere"], at: recorder)
                == (66, [], ["takes: /nowhere: it is not there"]))
        #expect(recorder.commands == [])
    }

    @Test func `a take that is being recorded is none, and a folder without takes is reported as one`() throws {
        let directory = try TakesDirectory(path: path)
        #expect(run(["takes"], access: kit) == (0, ["\(path): no takes"], []))
        #expect(run(["takes", "--json"], access: kit) == (0, ["{\"directory\":\"\(path)\",\"takes\":[]}"], []))
        let name = try directory.nextTake(kit: "heron07", started: WallTime(microseconds: 0))
        let sidecar = Sidecar(
            name: name, started: WallTime(microseconds: 0), startedMonotonic: Instant(nanoseconds: 0), bootID: "",
            clock: .ntp, card: "card:Mic", format: KitFolder.format, preRollFrames: 0, gainDB: nil, agc: nil,
            version: "0")
        let output = try TakeOutput(
            in: directory, name: name, sidecar: sidecar, started: WallTime(microseconds: 0),
            format: KitFolder.format)
        #expect(run(["takes"], access: kit) == (0, ["\(path): no takes"], []))
        _ = output
    }

    @Test func `a sidecar that cannot be read is named, and the others are listed`() throws {
        let first = try record()
        let second = try record()
        let sidecar = "\(path)/\(first.day)/\(first.stem).json"
        try files.write(Array("{".utf8), to: files.create(sidecar, isNew: false), at: 0)
        let sentence = "takes: read \(sidecar): not a sidecar: not JSON"
        let result = run(["takes"], access: kit)
        #expect(result.status == 65)
        #expect(result.output.map { $0.prefix(28) } == [second.stem[...]])
        #expect(result.complaints == [sentence, "takes: 1 take cannot be read"])
        let json = run(["takes", "--json"], access: kit)
        #expect(json.output[0].contains("\"error\":\"\(sentence)\",\"take\":\"\(first.stem)\"},{"))
    }

    @Test func `a folder that this user may not read is exit status 77`() throws {
        guard geteuid() != 0 else { return }
        try record()
        unsafe chmod(path, 0)
        defer { unsafe chmod(path, 0o755) }
        #expect(
            run(["takes"], access: kit)
                == (77, [], ["takes: list \(path): Permission denied: is this user in the group 'fieldfare'?"]))
    }

    // MARK: delete

    /// The command that discards a take in its current version.
    private func discard(_ take: TakeName) throws -> Transport.Command {
        let version = try TakesFolder(path: folder.path).sidecar(of: take).version(day: take.day)
        return .discard(stem: take.stem, DiscardTerms(version, in: folder.path))
    }

    @Test func `delete asks, and discards just what is agreed to`() throws {
        let (first, second) = (try record(), try record())
        let recorder = try recorder()
        let console = PaperConsole()
        console.typed = "n"
        #expect(run(["delete", "1", "last"], at: recorder, console: console).output == ["nothing is deleted"])
        #expect(console.questions == ["Delete these 2 takes for good? [y/N]"])
        #expect(
            console.complaints == [first, second].map { "\($0.stem)  2026-11-21 06:18:11   0:00:02.0" })
        #expect(recorder.commands == [])
        console.typed = "Y"
        console.output = ""
        #expect(run(["delete", "1"], at: recorder, console: console).output == ["deleted \(first.stem)"])
        #expect(console.questions.last == "Delete this take for good? [y/N]")
        #expect(recorder.commands == [try discard(first)])
    }

    @Test func `delete --yes does not ask, and a take that is named twice is deleted once`() throws {
        let (first, second) = (try record(), try record())
        let recorder = try recorder()
        let result = run(["delete", "--yes", "1", second.stem, "last"], at: recorder)
        #expect(result == (0, ["deleted \(first.stem)", "deleted \(second.stem)"], []))
        #expect(recorder.commands == [try discard(first), try discard(second)])
    }

    @Test func `a library that runs deletes what it knows, and says who else does; the recorder deletes the rest`()
        throws
    {
        let (first, second) = (try record(), try record())
        let (recorder, library) = (try recorder(), try DeskLibrary([deskTake(1)]))
        library.desk.takes.withLock { $0[0].take = first.stem }
        #expect(run(["delete", "--yes", "1", "2"], at: recorder, library: library).status == 0)
        #expect(
            library.messages == [first, second].map { .delete(stem: $0.stem, Deletion(.here)) })
        #expect(recorder.commands == [try discard(second)])
        let refusal = "delete: \(first.stem): it is being deleted: look again in a moment"
        library.desk.refusal.withLock { $0 = Refusal(.busy, refusal) }
        #expect(run(["delete", "--yes", "1"], at: recorder, library: library) == (75, [], [refusal]))
        #expect(recorder.commands.count == 1)
    }

    @Test func `without a terminal and --yes nothing is deleted`() throws {
        try record()
        let recorder = try recorder()
        let result = run(["delete", "1"], at: recorder)
        #expect(result.status == 64)
        #expect(
            result.complaints.last
                == "fieldfare delete: the input is not a terminal: add --yes to delete without a question")
        #expect(recorder.commands == [])
    }

    @Test func `where one take cannot be found none is deleted`() throws {
        try record()
        let recorder = try recorder()
        #expect(
            run(["delete", "--yes", "1", "9"], at: recorder) == (66, [], ["delete: 9: no such take in \(path)"]))
        #expect(recorder.commands == [])
    }

    @Test func `a take that the recorder refuses to delete is named, and the others are deleted`() throws {
        let (first, second) = (try record(), try record())
        let recorder = try recorder()
        recorder.received.played.withLock { $0 = [first.stem] }
        let sentence = "discard: \(first.stem) is being played: stop it first"
        #expect(
            run(["delete", "--yes", "1", "2"], at: recorder) == (75, ["deleted \(second.stem)"], [sentence]))
        #expect(
            run(["delete", "--yes", "--json", "1", "2"], at: recorder) == (
                75,
                [
                    "{\"deleted\":[\"\(second.stem)\"],\"failed\":[{\"message\":\"\(sentence)\",\"take\":\"\(first.stem)\"}]}"
                ], ["{\"error\":{\"code\":\"busy\",\"message\":\"\(sentence)\"}}"]
            ))
    }

    @Test func `delete needs the recorder`() throws {
        try record()
        let result = run(["delete", "--yes", "1"], access: kit)
        #expect(result.status == 69)
        #expect(result.output == [])
    }
}
