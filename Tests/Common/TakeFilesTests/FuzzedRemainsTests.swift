import Files
import Glibc
import PowerCuts
import TakePlaces
import Takes
import TestBench
import Testing

@testable import TakeFiles

/// Remains of takes, mutated by the fuzzer, that once broke recovery.
struct FuzzedRemainsTests {
    let scratch = TestFolder(in: .memory)
    var path: String { scratch.path + "/takes" }
    let files = FileSystem()

    /// A take of two parts that was interrupted after its last sync.
    private func cutTake() throws -> TakeName {
        let output = try TakeOutput(TakesDirectory(path: path))
        try output.append(100)
        try output.sync()
        for _ in 1...2 {
            try output.beginPart(format: stereo16, firstFrame: output.frames)
            try output.append(100)
            try output.sync()
        }
        return output.name
    }

    private func finishedTake(_ format: StreamFormat) throws -> TakeName {
        let output = try TakeOutput(TakesDirectory(path: path), format)
        try output.append(100, format)
        _ = try output.finish(endedBy: .stop, levels: [])
        return output.name
    }

    /// A take that was finished, and continued with a second part until it was interrupted.
    private func rejoinedTake() throws -> TakeName {
        let format = StreamFormat(rateHz: 48_000, channels: 2, sampleFormat: .s32)
        let output = try TakeOutput(TakesDirectory(path: path), format)
        try output.append(100, format)
        _ = try output.finish(endedBy: .stop, levels: [])
        try output.beginTail(format: format)
        try output.append(50, format)
        try output.sync()
        try output.rejoin()
        try output.append(50, format)
        try output.sync()
        return output.name
    }

    private func recover(_ name: TakeName) throws -> TakeRecovery.Outcome {
        let recovery = TakeRecovery(of: name, in: try TakesDirectory(path: path), bootID: "")
        while true {
            if let outcome = try recovery.step() { return outcome }
        }
    }

    private func file(_ name: TakeName, _ ending: String) -> String {
        "\(path)/\(name.day)/\(name.stem.file(ending))"
    }

    @Test(arguments: [".json.part", ".json.part.tmp", ".dat.part"], ["folder", "pipe", "link", "loop"])
    func `a take with something that is no file in the place of one is recovered`(ending: String, kind: String)
        throws
    {
        let name = try cutTake()
        let place = file(name, ending)
        try files.remove(place)
        switch kind {
        case "folder": #expect(mkdir(place, 0o755) == 0)
        case "pipe": #expect(mkfifo(place, 0o644) == 0)
        case "link": #expect(symlink("\(scratch.path)/elsewhere", place) == 0)
        default: #expect(symlink(place, place) == 0)
        }
        try files.write(Array("mine".utf8), to: files.create("\(scratch.path)/elsewhere", isNew: true), at: 0)
        guard case .recovered = try recover(name) else {
            Issue.record("it is not recovered")
            return
        }
        #expect(try files.status(named: "\(place).other1").kind != .file)
        #expect(try files.contents("\(scratch.path)/elsewhere") == Array("mine".utf8))
    }

    @Test func `a day that is a link is not looked into`() throws {
        let name = try cutTake()
        try files.rename("\(path)/\(name.day)", to: "\(scratch.path)/elsewhere")
        symlink("../elsewhere", "\(path)/\(name.day)")
        let directory = try TakesDirectory(path: path)
        #expect(try directory.leftovers() == [])
        #expect(try directory.takes() == [])
    }

    @Test func `a part that is dated ages behind the first follows the one before it`() throws {
        let name = try cutTake()
        try files.remove(file(name, ".json.part"))
        // The first year of the date in `bext`, which begins at 20.
        try files.write(Array("0026".utf8), to: files.open(file(name, ".wav.part")), at: 20 + 320)
        guard case .recovered(let sidecar) = try recover(name) else {
            Issue.record("it is not recovered")
            return
        }
        #expect(sidecar.parts.map(\.firstFrame.count) == [0, 100, 200])
        #expect(try TakesDirectory(path: path).sidecar(of: name) == sidecar)
    }

    @Test(arguments: [
        (SampleFormat.s32, "fmt ", 8 + 32, UInt8(7)), (.s24Packed, "fmt ", 8, 0x99), (.s24Packed, "bext", 3, 0xc0),
        (.s24Packed, "JUNK", 1, 0xc0),
    ])
    func `the head of a part that has its final name is repaired where other programs could not read it`(
        sampleFormat: SampleFormat, chunk: String, offset: Int, byte: UInt8
    ) throws {
        let format = StreamFormat(rateHz: 48_000, channels: 2, sampleFormat: sampleFormat)
        let name = try finishedTake(format)
        // As if it had been interrupted before the last rename, with one damaged byte in the header.
        try files.rename(file(name, ".json"), to: file(name, ".json.part"))
        let audio = file(name, ".wav")
        let head = try files.contents(audio)
        let place = try #require(head.firstRange(of: Array(chunk.utf8))).lowerBound + offset
        try files.write([byte], to: files.open(audio), at: Int64(place))
        #expect(throws: SoundFileError.self) { _ = try SoundFileReader(path: audio) }
        guard case .recovered(let sidecar) = try recover(name) else {
            Issue.record("it is not recovered")
            return
        }
        #expect(sidecar.frames == 100)
        #expect(try SoundFileReader(path: audio).frames == 100)
    }

    @Test func `a take that went on is left, if other programs cannot read the head of its finished part`() throws {
        let name = try rejoinedTake()
        let audio = file(name, ".wav")
        // The last byte of the format's identifier.
        let place = try #require(try files.contents(audio).firstRange(of: Array("fmt ".utf8))).lowerBound + 8 + 39
        try files.write([0], to: files.open(audio), at: Int64(place))
        #expect(throws: SoundFileError.self) { _ = try SoundFileReader(path: audio) }
        let before = try everything(in: path)
        guard case .left(let reason) = try recover(name) else {
            Issue.record("it is not left")
            return
        }
        #expect(reason.hasPrefix("\(name.stem): its finished file \(name.stem).wav is damaged: left where it is"))
        #expect(try everything(in: path) == before)
    }

    @Test(arguments: [0, 2571, 4096])
    func `an empty file beside the finished part of a take that went on is removed with its recovery`(
        byteCount: Int
    ) throws {
        let name = try rejoinedTake()
        let rest = file(name, ".wav.part")
        try files.write(
            [UInt8](repeating: 0, count: byteCount), to: try files.create(rest, isNew: true), at: 0)
        guard case .recovered(let sidecar) = try recover(name) else {
            Issue.record("it is not recovered")
            return
        }
        #expect(sidecar.frames == 200)
        #expect(access(rest, F_OK) != 0)
        #expect(try TakesDirectory(path: path).leftovers() == [])
    }
}
