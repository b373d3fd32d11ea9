import Files
import Glibc
import Takes
import TestBench
import Testing

@testable import TakeFiles

/// Files in the directory of takes that a recorder did not write.
struct HostileTakesTests {
    let scratch = TestFolder(in: .memory)
    var path: String { scratch.path + "/takes" }
    let files = FileSystem()

    private func write(_ bytes: [UInt8], to file: String) throws {
        _ = try files.makeFolder("\(path)/2026-11-21")
        try files.write(bytes, to: files.create("\(path)/\(file)", isNew: false), at: 0)
    }

    private func finishedTake() throws -> (TakesDirectory, TakeName) {
        let directory = try TakesDirectory(path: path)
        let output = try TakeOutput(directory)
        try output.append(100)
        _ = try output.finish(endedBy: .stop, levels: [])
        return (directory, output.name)
    }

    // MARK: Numbers

    @Test(arguments: [
        "heron07-9223372036854775807-061811Z.wav.part", "heron07-9223372036854775807-061811Z.json",
        "heron07-1000000000000-061811Z.json",
    ]) func `a file with a number that no kit reaches is no take and stops no counting`(file: String) throws {
        try _ = TakesDirectory(path: path)
        try write([], to: "2026-11-21/\(file)")
        let directory = try TakesDirectory(path: path)
        #expect(try directory.takes() == [])
        #expect(try directory.nextTake(kit: "heron07", started: morning).number == 1)
    }

    @Test(arguments: ["9223372036854775807\n", "1000000000000\n", "999999999999\n"])
    func `a last number that no kit reaches is not used`(text: String) throws {
        try _ = TakesDirectory(path: path)
        try write(Array(text.utf8), to: ".number")
        #expect(try TakesDirectory(path: path).nextTake(kit: "heron07", started: morning).number == 1)
    }

    @Test(arguments: [
        "heron07-999999999999-061811Z.wav.part", "x-999999999999-000000Z.wav", "x-999000000000-000000Z.wav",
    ])
    func `a number that leaves no room stops no counting, and none is given twice`(file: String) throws {
        let (first, name) = try finishedTake()
        #expect(name.number == 1)
        _ = consume first
        try write([], to: "2026-11-21/\(file)")
        for number in 2...4 {
            // From the second round on, `.number` is removed, so that only the names of the files contain the number.
            if number > 2 { try files.remove("\(path)/.number") }
            try files.remove("\(path)/.lock")
            let directory = try TakesDirectory(path: path)
            let output = try TakeOutput(directory)
            #expect(output.name.number == number)
            _ = try output.finish(endedBy: .stop, levels: [])
        }
    }

    @Test func `behind a high number that leaves room it is counted on`() throws {
        try _ = TakesDirectory(path: path)
        try write([], to: "2026-11-21/heron07-998999999999-061811Z.wav.part")
        for number in 0...1 {
            let directory = try TakesDirectory(path: path)
            #expect(try directory.nextTake(kit: "heron07", started: morning).number == 999_000_000_000 + number)
        }
    }

    @Test func `links that lead nowhere are no days`() throws {
        let (directory, name) = try finishedTake()
        symlink("2026-11-22", "\(path)/2026-11-22")
        symlink("nowhere", "\(path)/2026-11-23")
        #expect(try directory.takes() == [name])
    }

    // MARK: Sidecars

    /// A value in the sidecar, the fuzzer's replacement, and the key in the error message.
    private static let absurd: [(String, String, String)] = [
        ("\"frames\" : 100,", "\"frames\" : 9223372036854775807,", "frames"),
        ("\"frames\" : 100,\n      \"rate", "\"frames\" : -1,\n      \"rate", "parts.0.frames"),
        ("\"first_frame\" : 0", "\"first_frame\" : 4398046511105", "parts.0.first_frame"),
        ("\"rate_hz\" : 48000,\n      \"sha", "\"rate_hz\" : 0,\n      \"sha", "parts.0.rate_hz"),
        ("\"rate_hz\" : 48000,\n  \"rec", "\"rate_hz\" : -48000,\n  \"rec", "rate_hz"),
        ("\"channels\" : 2", "\"channels\" : 0", "channels"),
        ("\"channels\" : 2", "\"channels\" : 65536", "channels"),
        ("\"channels\" : 2", "\"channels\" : 2, \"channels_of_card\" : [2]", "channels_of_card"),
        ("\"channels\" : 2", "\"channels\" : 2, \"channels_of_card\" : [1, -1]", "channels_of_card"),
        ("\"number\" : 1", "\"number\" : 9223372036854775807", "number"),
        ("\"pre_roll_frames\" : 0", "\"pre_roll_frames\" : -9223372036854775808", "pre_roll_frames"),
        ("heron07-0001_20261121_061811.wav", "../../../etc/passwd", "parts.0.file"),
        ("heron07-0001_20261121_061811.wav", "heron07-0001_20261121_061811./../../elsewhere.wav", "parts.0.file"),
        ("heron07-0001_20261121_061811.wav", "heron07-0002_20261121_061811.wav", "parts.0.file"),
        ("heron07-0001_20261121_061811.wav", "heron07-0001_20261121_061811.wav\\n", "parts.0.file"),
        ("heron07-0001_20261121_061811.wav", "", "parts.0.file"),
        ("\"markers\" : [", "\"markers\" : [ {\"at_frame\": -1, \"note\": null} ", "markers.0.at_frame"),
        ("\"filter\" : [", "\"filter\" : [ {\"at_frame\": -1, \"slope_db_per_octave\": 24} ", "filter.0.at_frame"),
        ("\"gain\" : [", "\"gain\" : [ {\"at_frame\": -1, \"gain_db\": 1} ", "gain.0.at_frame"),
        (
            "\"gaps\" : [", "\"gaps\" : [ {\"at_frame\": 0, \"frames\": 9223372036854775807, \"cause\": \"xrun\"} ",
            "gaps.0.frames"
        ),
    ]

    @Test(arguments: absurd)
    func `a sidecar that says what no recorder writes is none, and the take can still be read`(
        old: String, new: String, key: String
    ) throws {
        let (directory, name) = try finishedTake()
        let path = directory.sidecarPath(of: name)
        let text = String(decoding: try files.contents(path), as: UTF8.self)
        #expect(text.contains(old))
        try files.write(Array(text.replacing(old, with: new).utf8), to: files.create(path, isNew: false), at: 0)
        #expect(throws: SidecarError(path: path, problem: "\(key) has a value that is not allowed")) {
            try directory.sidecar(of: name)
        }
        #expect(throws: SidecarError.self) { try directory.revise(name) { $0.recovered = true } }
        #expect(try TakeAudio(of: name, in: directory).parts.map(\.frames) == [100])
    }

    @Test func `a sidecar that names a file twice, or another take, is none`() throws {
        let (directory, name) = try finishedTake()
        var sidecar = try directory.sidecar(of: name)
        sidecar.parts.append(sidecar.parts[0])
        #expect(throws: SidecarError(path: "a", problem: "parts.1.file has a value that is not allowed")) {
            try SidecarFile.sidecar(SidecarFile.bytes(sidecar), path: "a")
        }
        let other = TakeName(kit: "heron07", number: 2, started: morning)
        try files.rename(directory.sidecarPath(of: name), to: directory.sidecarPath(of: other))
        #expect(throws: SidecarError.self) { try directory.sidecar(of: other) }
    }

    @Test func `behind the highest revision comes itself`() throws {
        let (directory, name) = try finishedTake()
        let path = directory.sidecarPath(of: name)
        var sidecar = try directory.sidecar(of: name)
        sidecar.revision = .max
        try files.write(SidecarFile.bytes(sidecar), to: files.create(path, isNew: false), at: 0)
        #expect(try directory.revise(name) { $0.recovered = true }.revision == .max)
        #expect(try directory.sidecar(of: name).recovered)
    }

    @Test func `frames that cannot be counted at another rate are the most there are`() {
        #expect(Sidecar.frames(.max, at: 1, countedAt: 48000) == .max)
        #expect(Sidecar.frames(1 << 42, at: 0, countedAt: 48000) == .max)
    }

    // MARK: Sound

    @Test(arguments: [
        [0, 0, 0, 0, 0, 0, 0, 0x80], [0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f], [1, 0, 0, 0, 1, 0, 0, 0],
    ])
    func `a file whose time of day is beyond the end of the day has no origin`(reference: [UInt8]) throws {
        let (_, name) = try finishedTake()
        let audio = "\(path)/\(name.day)/\(name.audioFile(part: 1))"
        #expect(try SoundFileReader(path: audio).origin() != nil)
        // The frames since midnight in `bext`, which follows the 12 bytes of RIFF and 8 of its own header.
        try files.write(reference, to: files.open(audio), at: 20 + 338)
        #expect(try SoundFileReader(path: audio).origin() == nil)
    }

    @Test
    func `a pipe, a folder and a sound of another kind in place of an audio file are reported, and not waited for`()
        throws
    {
        let (directory, name) = try finishedTake()
        let audio = "\(path)/\(name.day)/\(name.audioFile(part: 1))"
        func problem() -> String? {
            do {
                _ = try TakeAudio(of: name, in: directory)
                return nil
            } catch {
                return "\(error)"
            }
        }
        #expect(problem() == nil)
        try files.remove(audio)
        #expect(mkfifo(audio, 0o644) == 0)
        #expect(problem() == "open \(audio): it is not a regular file")
        try files.remove(audio)
        #expect(mkdir(audio, 0o755) == 0)
        #expect(problem() == "open \(audio): it is not a regular file")
        rmdir(audio)
        // The first bytes of an MP3 file, of an Ogg file, and of a truncated RIFF header.
        for head in [[0xff, 0xfb, 0x90, 0x64], Array("OggS".utf8), Array("RIF".utf8)] as [[UInt8]] {
            try write(head, to: "\(name.day)/\(name.audioFile(part: 1))")
            #expect(problem() == "open \(audio): it is neither WAV nor FLAC")
        }
    }
}
