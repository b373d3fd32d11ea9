import ArgumentParser
import Files
import Foundation
import Glibc
import OtherPrograms
import TakeFiles
import TakePlaces
import Takes
import TestBench
import Testing

@testable import Commands

/// `verify` on real takes in real folders, without a service.
@Suite final class VerifyCommandTests {
    private let folder = KitFolder()
    private let home = TestFolder()

    private func sidecar(_ take: TakeName) throws -> Sidecar {
        try TakesFolder(path: folder.path).sidecar(of: take)
    }

    private func path(_ take: TakeName, _ file: String) -> String { "\(folder.path)/\(take.day)/\(file)" }

    /// Adds the fingerprints of a take to its sidecar, as a recorder does while it records.
    private func fingerprint(_ take: TakeName) throws {
        let sidecar = try sidecar(take)
        let hashes = try sidecar.sounds.map { sound in
            try #require(try SoundCheck(sound, in: "\(folder.path)/\(take.day)").run()?.sha256)
        }
        _ = try TakesDirectory(path: folder.path).revise(take) { sidecar in
            sidecar.parts[0].soundSHA256 = hashes[0]
            sidecar.parts[0].unfilteredSoundSHA256 = hashes[1]
            sidecar.parts[0].fingerprint = .capture
        }
    }

    private func spoil(_ path: String, at place: Int = 5000) throws {
        var bytes = try FileSystem().contents(path, limit: 1 << 30)
        bytes[place] ^= 1
        try FileSystem().write(bytes, to: FileSystem().create(path, isNew: false), at: 0)
    }

    private func verify(_ arguments: String...) -> (status: Int32, output: [String], complaints: [String]) {
        run(["verify"] + arguments, access: folder.access)
    }

    @Test func `files, sidecars, folders and takes that are as recorded end with 0`() throws {
        let takes = try [folder.record(seconds: 1), folder.record(seconds: 1)]
        for take in takes { try fingerprint(take) }
        let all = "2 takes, 4 files: 4 as recorded, 0 not judged, 0 differ"
        #expect(verify(folder.path) == (0, [all], []))
        #expect(verify(folder.path + "/" + takes[0].day) == (0, [all], []))
        let (stem, one) = (takes[0].stem, "1 take, 1 file: 1 as recorded, 0 not judged, 0 differ")
        #expect(verify(path(takes[0], "\(stem).wav")) == (0, [one], []))
        #expect(verify(path(takes[0], stem.file("-raw.wav"))) == (0, [one], []))
        let both = "1 take, 2 files: 2 as recorded, 0 not judged, 0 differ"
        for name in [path(takes[0], "\(stem).json"), stem, "1"] { #expect(verify(name) == (0, [both], [])) }
        #expect(verify("last", path(takes[0], "\(stem).wav")).output.last?.hasPrefix("2 takes, 3 files: 3") == true)
    }

    @Test func `what differs has a line each, and the status 65`() throws {
        let takes = try [folder.record(seconds: 1), folder.record(seconds: 1)]
        for take in takes { try fingerprint(take) }
        let (first, twin) = (path(takes[0], "\(takes[0].stem).wav"), path(takes[0], takes[0].stem.file("-raw.wav")))
        let second = path(takes[1], takes[1].stem.file("-raw.wav"))
        try spoil(first)
        try FileManager.default.removeItem(atPath: twin)
        #expect(unsafe truncate(second, 100_000) == 0)
        let result = verify(folder.path)
        #expect(result.status == 65)
        #expect(
            result.output == [
                "\(first): its sound is not what was recorded: the fingerprint differs", "\(twin): it is missing",
                "\(second): it is cut: it ends after \((100_000 - 4096) / 4) of 48000 frames",
                "2 takes, 4 files: 1 as recorded, 0 not judged, 3 differ",
            ])
        #expect(result.complaints == ["verify: 3 files are not as recorded: see the report"])
        let json = run(["verify", "--json", folder.path], access: folder.access)
        #expect(json.status == 65 && json.output.count == 1)
        let read = try JSONSerialization.jsonObject(with: Data(json.output[0].utf8)) as? [String: Any]
        #expect(read?["takes"] as? Int == 2 && read?["differ"] as? Int == 3 && read?["as_recorded"] as? Int == 1)
        let files = read?["files"] as? [[String: Any]]
        #expect(files?.compactMap { $0["finding"] as? String } == ["differs", "missing", "as-recorded", "cut"])
    }

    @Test func `a take without a fingerprint is compared by its length, and said as not judged`() throws {
        let take = try folder.record(seconds: 1)
        _ = try TakesDirectory(path: folder.path).revise(take) { sidecar in
            sidecar.parts[0].soundSHA256 = nil
            sidecar.parts[0].unfilteredSoundSHA256 = nil
            sidecar.parts[0].fingerprint = nil
        }
        let (file, twin) = (path(take, "\(take.stem).wav"), path(take, take.stem.file("-raw.wav")))
        let unjudged = "has no fingerprint: its length fits, its sound cannot be judged"
        #expect(
            verify(folder.path) == (
                0,
                [
                    "\(file): \(unjudged)", "\(twin): \(unjudged)",
                    "1 take, 2 files: 0 as recorded, 2 not judged, 0 differ",
                ], []
            ))
        #expect(unsafe truncate(file, 100_000) == 0)
        #expect(verify(file).status == 65)
    }

    @Test func `a copy at home is compared by the hash that it was sent with, also in a flat folder`() throws {
        let take = try folder.record(seconds: 1)
        var sidecar = try sidecar(take)
        sidecar.parts[0].soundSHA256 = nil
        sidecar.parts[0].unfilteredSoundSHA256 = nil
        sidecar.parts[0].fingerprint = nil
        var hashes: [String] = []
        for file in sidecar.audioFiles {
            try FileManager.default.copyItem(atPath: path(take, file), toPath: "\(home.path)/\(file)")
            var digest = SoundDigest()
            digest.update(try FileSystem().contents("\(home.path)/\(file)", limit: 1 << 30))
            hashes.append(digest.hexadecimal)
        }
        sidecar.parts[0].sha256 = hashes[0]
        sidecar.parts[0].unfilteredSHA256 = hashes[1]
        let files = FileSystem()
        try files.write(
            SidecarFile.bytes(sidecar), to: files.create("\(home.path)/\(take.stem).json", isNew: true), at: 0)
        // Add files of the library and of other programs to the folder.
        for name in ["\(take.stem).notes.json", "package.json"] {
            try files.write(Array("{}".utf8), to: files.create("\(home.path)/\(name)", isNew: true), at: 0)
        }
        #expect(verify(home.path) == (0, ["1 take, 2 files: 2 as recorded, 0 not judged, 0 differ"], []))
        try spoil("\(home.path)/\(take.stem.file("-raw.wav"))")
        let result = verify(home.path + "/")
        #expect(result.status == 65)
        #expect(
            result.output.first
                == "\(home.path)/\(take.stem.file("-raw.wav")): it is not the file that was sent: its hash differs")
    }

    @Test func `sound without a sidecar, and a sidecar that cannot be read, are said`() throws {
        let takes = try [folder.record(seconds: 1), folder.record(seconds: 1)]
        for take in takes { try fingerprint(take) }
        try FileManager.default.removeItem(atPath: path(takes[0], "\(takes[0].stem).json"))
        let stray = path(takes[0], "\(takes[0].stem).wav")
        let result = verify(folder.path)
        #expect(result.status == 0 && result.output.count == 3)
        #expect(result.output[1] == "\(stray): no sidecar in its folder lists it: it cannot be checked")
        #expect(verify(stray).status == 66)
        let sidecar = path(takes[1], "\(takes[1].stem).json")
        try FileSystem().write(Array("{".utf8), to: FileSystem().create(sidecar, isNew: false), at: 0)
        let damaged = verify(folder.path)
        #expect(damaged.status == 65 && damaged.output.contains("\(sidecar): it cannot be read as a sidecar"))
    }

    @Test func `sound of a take that its sidecar does not list differs`() throws {
        let takes = try [folder.record(seconds: 1), folder.record(seconds: 1)]
        for take in takes { try fingerprint(take) }
        var sidecar = try sidecar(takes[0])
        sidecar.parts[0].unfilteredFile = nil
        let json = path(takes[0], "\(takes[0].stem).json")
        try FileSystem().write(SidecarFile.bytes(sidecar), to: FileSystem().create(json, isNew: false), at: 0)
        let twin = path(takes[0], takes[0].stem.file("-raw.wav"))
        let why = "the take's sidecar does not list this sound, so that no store would get it"
        for name in [folder.path, json, takes[0].stem] {
            let result = verify(name)
            #expect(result.status == 65 && result.output[0].hasPrefix("\(twin): \(why)"), "\(result)")
        }
        #expect(verify(folder.path).output.last == "2 takes, 4 files: 3 as recorded, 0 not judged, 1 differs")
        #expect(run(["verify", "--json", json], access: folder.access).output[0].contains("\"finding\":\"unlisted\""))
        #expect(verify(path(takes[0], "\(takes[0].stem).wav")).status == 0)
        // Now the sidecar lists no sound.
        sidecar.parts = []
        try FileSystem().write(SidecarFile.bytes(sidecar), to: FileSystem().create(json, isNew: false), at: 0)
        let result = verify(json)
        #expect(result.status == 65 && result.output.last == "1 take, 2 files: 0 as recorded, 0 not judged, 2 differ")
        for file in ["\(takes[0].stem).wav", takes[0].stem.file("-raw.wav")] {
            try FileManager.default.removeItem(atPath: path(takes[0], file))
        }
        #expect(verify(json).status == 65 && verify(folder.path).status == 65)
    }

    @Test func `what is left of a take that was not finished differs`() throws {
        let take = try folder.record(seconds: 1)
        try fingerprint(take)
        let wav = path(take, "\(take.stem).wav")
        // Next to a finished take, a waveform or FLAC that is being made does not count as unfinished.
        for name in ["\(take.stem).dat.part", "\(take.stem).flac.part", "notes.part"] {
            try FileManager.default.copyItem(atPath: wav, toPath: path(take, name))
        }
        #expect(verify(folder.path).status == 0)
        let why = "its take was not finished: run 'fieldfare recover'"
        let lone = path(take, "heron07-0009_20261121_061811.wav.part")
        try FileManager.default.copyItem(atPath: wav, toPath: lone)
        var result = verify(lone)
        #expect(result.status == 65 && result.output[0] == "\(lone): \(why)", "\(result)")
        result = verify(folder.path)
        #expect(result.status == 65 && result.output[0] == "\(lone): \(why)", "\(result)")
        #expect(result.output.last == "1 take, 3 files: 2 as recorded, 0 not judged, 1 differs")
        #expect(
            run(["verify", "--json", folder.path], access: folder.access).output[0]
                .contains("\"finding\":\"unfinished\""))
        try FileManager.default.moveItem(atPath: lone, toPath: path(take, "heron07-0009_20261121_061811.json.part"))
        result = verify(folder.path)
        #expect(result.status == 65 && result.output[0].hasSuffix("heron07-0009_20261121_061811.json.part: \(why)"))
        try FileManager.default.removeItem(atPath: path(take, "heron07-0009_20261121_061811.json.part"))
        // Drafts of a recording that continued the finished take.
        for name in [take.stem.file("-p2.wav.part"), "\(take.stem).json.part"] {
            try FileManager.default.copyItem(atPath: wav, toPath: path(take, name))
        }
        result = verify(folder.path)
        #expect(result.status == 65 && result.output[0].hasSuffix("\(take.stem.file("-p2.wav.part")): \(why)"))
        for name in ["\(take.stem).json", "\(take.stem).json.part", take.stem.file("-p2.wav.part")] {
            result = verify(path(take, name))
            #expect(result.status == 65 && result.output[0].hasSuffix(".part: \(why)"), "\(name): \(result)")
        }
        #expect(verify(take.stem).status == 65)
        #expect(verify(path(take, "\(take.stem).flac.part")).status == 66)
    }

    @Test func `each file of sound that was not finished is named, and unfiltered sound that is alone`() throws {
        let take = try folder.record(seconds: 1)
        try fingerprint(take)
        let wav = path(take, "\(take.stem).wav")
        let stem = "heron07-0009_20261121_061811"
        for name in [stem.file("-raw.wav.part"), "\(stem).wav.part", "\(stem).json.part"] {
            try FileManager.default.copyItem(atPath: wav, toPath: path(take, name))
        }
        var result = verify(folder.path)
        #expect(result.status == 65 && result.output.last == "1 take, 4 files: 2 as recorded, 0 not judged, 2 differ")
        try FileManager.default.removeItem(atPath: path(take, "\(stem).wav.part"))
        result = verify(folder.path)
        let twin = path(take, stem.file("-raw.wav.part"))
        #expect(result.output[0].hasPrefix("\(twin): its take was not finished, and has only this unfiltered sound"))
        #expect(verify(twin).output[0] == result.output[0])
    }

    @Test func `what another program left beside a finished take is not left to a recovery that leaves it`() throws {
        let take = try folder.record(seconds: 1)
        try fingerprint(take)
        let other = path(take, take.stem.file("-p2.wav.part"))
        try Data("other\n".utf8).write(to: URL(fileURLWithPath: other))
        let result = verify(folder.path)
        #expect(result.status == 65 && result.output[0].hasPrefix("\(other): it has no sound of this take"))
        #expect(verify(other).output[0] == result.output[0])
        let nothing = ["\(folder.path): nothing to recover"]
        #expect(run(["recover", folder.path], access: folder.access).output == nothing)
    }

    @Test func `a sidecar that was emptied differs, also where no sound is left`() throws {
        let take = try folder.record(seconds: 1)
        let json = path(take, "\(take.stem).json")
        for file in [".wav", "-raw.wav"] {
            try FileManager.default.removeItem(atPath: path(take, take.stem.file(file)))
        }
        for bytes in [[], Array("{".utf8)] as [[UInt8]] {
            try FileSystem().write(bytes, to: FileSystem().create(json, isNew: false), at: 0)
            let result = verify(folder.path)
            #expect(result.status == 65 && result.output.first == "\(json): it cannot be read as a sidecar")
        }
    }

    @Test func `a folder that cannot be read is said, and the others are compared`() throws {
        let take = try folder.record(seconds: 1)
        try fingerprint(take)
        let day = "\(folder.path)/\(take.day)"
        for (code, status) in [(EACCES, 77), (EIO, 74)] as [(Int32, Int32)] {
            var search = SoundSearch(files: FileSystem(calls: RefusedFolder(day, code)))
            var session = Session(console: PaperConsole(), access: folder.access)
            session.options = try GlobalOptions.parse([])
            try search.add(folder.path, in: session)
            #expect(search.takes.isEmpty && search.failures.map(\.exitStatus) == [status])
            var report = SoundReport()
            for failure in search.failures { report.add(failure, session) }
            let failure = #expect(throws: Failure.self) { try report.end(session) }
            #expect(failure?.exitStatus == status && !report.isEmpty)
        }
    }

    @Test(arguments: [(EACCES, 77), (EIO, 74)] as [(Int32, Int32)])
    func `a sidecar that cannot be read is said, and does not differ`(code: Int32, status: Int32) throws {
        let take = try folder.record(seconds: 1)
        let json = path(take, "\(take.stem).json")
        let files = FileSystem(calls: RefusedFolder(json, code))
        var session = Session(console: PaperConsole(), access: folder.access)
        session.options = try GlobalOptions.parse(["--json"])
        for named in [json, folder.path] {
            var search = SoundSearch(files: files)
            try search.add(named, in: session)
            var report = SoundReport()
            for take in search.takes { try report.add(take, session) }
            let failure = #expect(throws: Failure.self) { try report.end(session) }
            #expect(failure?.exitStatus == status)
        }
        let failure = #expect(throws: Failure.self) {
            var search = SoundSearch(files: files)
            try search.add(path(take, "\(take.stem).wav"), in: session)
        }
        #expect(failure?.exitStatus == status)
    }

    @Test func `where nothing is, the status is 66`() throws {
        try folder.record(seconds: 1)
        #expect(verify(home.path).status == 66)
        #expect(verify("\(home.path)/nothing.wav").complaints == ["verify: \(home.path)/nothing.wav: it is not there"])
        #expect(verify("7").status == 66)
        #expect(verify().status == 64)
    }

    @Test(.needs(.ffmpeg))
    func `the man page's commands for ffmpeg say the same fingerprint`() throws {
        let take = try folder.record(seconds: 1)
        try fingerprint(take)
        let sidecar = try sidecar(take)
        let expected = "SHA256=" + (try #require(sidecar.parts[0].soundSHA256))
        let wav = path(take, sidecar.parts[0].file)
        #expect(try ffmpeg(["-i", wav, "-f", "hash", "-hash", "sha256", "-c", "copy", "-"]) == expected)
        let flac = "\(home.path)/take.flac"
        _ = try ffmpeg(["-i", wav, flac])
        #expect(
            try ffmpeg(["-i", flac, "-f", "hash", "-hash", "sha256", "-c", "pcm_s16le", "-"]) == expected)
        try spoil(wav)
        #expect(try ffmpeg(["-i", wav, "-f", "hash", "-hash", "sha256", "-c", "copy", "-"]) != expected)
        #expect(verify(wav).status == 65)
    }

    private func ffmpeg(_ arguments: [String]) throws -> String {
        let process = Process()
        process.executableURL = URL(filePath: OtherProgram.ffmpeg.path)
        process.arguments = ["-v", "error", "-nostdin"] + arguments
        let output = Pipe()
        process.standardOutput = output
        try process.run()
        let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        #expect(process.terminationStatus == 0)
        return text.trimmingCharacters(in: .whitespacesAndNewlines)
    }
}
