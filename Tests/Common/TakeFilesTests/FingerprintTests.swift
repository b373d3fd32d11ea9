import Files
import Glibc
import PowerCuts
import TakePlaces
import Takes
import TestBench
import Testing

@testable import TakeFiles

/// The fingerprint of the sound, from the writer to the sidecar.
struct FingerprintTests {
    let scratch = TestFolder(in: .memory)
    let calls: FaultyCalls
    let directory: TakesDirectory

    init() throws {
        calls = FaultyCalls(root: scratch.path + "/takes")
        directory = try TakesDirectory(path: scratch.path + "/takes", files: FileSystem(calls: calls))
    }

    /// The sample bytes of an audio file on the disk.
    private func stored(_ file: String, _ part: Sidecar.Part, channels: Int) throws -> ArraySlice<UInt8> {
        let bytes = try directory.files.contents("\(directory.path)/2026-11-21/\(file)", limit: 1 << 26)
        let size = part.streamFormat(channels: channels).stored.bytesPerFrame
        let sound = bytes.dropFirst(WAVHeader.byteCount).prefix(Int(part.frames) * size)
        #expect(sound.count == Int(part.frames) * size)
        return sound
    }

    /// Checks that each part of a finished take has the fingerprint of its files' content.
    private func expectFingerprints(_ sidecar: Sidecar, channels: Int = 2) throws {
        let take = try #require(TakeName(stem: sidecar.take, day: "2026-11-21"))
        #expect(try directory.sidecar(of: take) == sidecar)
        for part in sidecar.parts {
            #expect(part.fingerprint == .capture)
            #expect(part.soundSHA256 == soundSHA256(try stored(part.file, part, channels: channels)))
            let twin = try part.unfilteredFile.map { soundSHA256(try stored($0, part, channels: channels)) }
            #expect(part.unfilteredSoundSHA256 == twin)
        }
    }

    private func draft(of output: TakeOutput) throws -> Sidecar {
        let path = "\(directory.path)/\(output.name.day)/\(output.name.stem).json.part"
        return try SidecarFile.sidecar(directory.files.contents(path), path: path)
    }

    @Test(
        arguments: TakeOutputTests.formats + [StreamFormat(rateHz: 48_000, channels: 3, sampleFormat: .float)],
        [false, true])
    func `each part and twin has the fingerprint of its samples, however they were appended and split`(
        format: StreamFormat, keepsUnfiltered: Bool
    ) throws {
        let output = try TakeOutput(directory, format, keepsUnfiltered: keepsUnfiltered, splitBytes: 65_536)
        for count: Int64 in [1, 1, 31, 1000, 7001, 2] {
            try output.append(count, format, unfiltered: keepsUnfiltered)
            if count > 1 { try output.sync() }
        }
        let sidecar = try output.finish(endedBy: .stop, levels: [])
        if format.bytesPerFrame > 8 { #expect(sidecar.parts.count > 1) }
        try expectFingerprints(sidecar, channels: format.channels)
        if sidecar.parts.count == 1 { #expect(sidecar.parts[0].soundSHA256 == soundSHA256(sound(0..<8036, format))) }
    }

    @Test func `metadata, cue points and a header that is written again leave the fingerprint as it is`() throws {
        let output = try TakeOutput(directory)
        output.note(.started(WallTime(microseconds: morning.microseconds + 9), Instant(nanoseconds: 7)))
        try output.append(101)
        output.note(markers: [Sidecar.Marker(atFrame: 10, note: "a cue")])
        let sidecar = try output.finish(endedBy: .stop, levels: [])
        #expect(sidecar.parts[0].soundSHA256 == soundSHA256(sound(0..<101, stereo16)))
        try expectFingerprints(sidecar)
    }

    @Test func `the draft has the fingerprints of the parts that are complete, and not of the one that goes on`() throws
    {
        let output = try TakeOutput(directory, keepsUnfiltered: true, splitBytes: 8192)
        #expect(try draft(of: output).parts.map(\.fingerprint) == [nil])
        try output.append(2000, unfiltered: true)
        try output.sync()
        let parts = try draft(of: output).parts
        #expect(parts.map(\.fingerprint) == [.capture, .capture, nil])
        #expect(parts.map { $0.soundSHA256 != nil } == [true, true, false])
        #expect(parts.map { $0.unfilteredSoundSHA256 != nil } == [true, true, false])
        let sidecar = try output.finish(endedBy: .stop, levels: [])
        #expect(Array(sidecar.parts.prefix(2)) == Array(parts.prefix(2)))
        try expectFingerprints(sidecar)
    }

    @Test func `a part after a lost card has its own, and one without a frame has none`() throws {
        let output = try TakeOutput(directory)
        try output.append(480)
        try output.beginPart(format: stereo16, firstFrame: 960)
        let later = StreamFormat(rateHz: 44_100, channels: 2, sampleFormat: .s24)
        try output.beginPart(format: later, firstFrame: 1920)
        try output.append(441, later)
        let sidecar = try output.finish(endedBy: .stop, levels: [])
        #expect(sidecar.parts.map(\.frames) == [480, 441])
        try expectFingerprints(sidecar)
    }

    @Test func `a take without a frame has the fingerprint of no bytes`() throws {
        let output = try TakeOutput(directory)
        try expectFingerprints(try output.finish(endedBy: .stop, levels: []))
    }

    @Test func `a take that goes on keeps the fingerprints of its parts, and the tail gets its own`() throws {
        let output = try TakeOutput(directory, keepsUnfiltered: true, splitBytes: 8192)
        try output.append(1100, unfiltered: true)
        let finished = try output.finish(endedBy: .stop, levels: [])
        try expectFingerprints(finished)
        try output.beginTail(format: stereo16)
        try output.append(1000, unfiltered: true)
        try output.sync()
        try output.rejoin()
        let parts = try draft(of: output).parts
        #expect(Array(parts.prefix(2)) == finished.parts)
        #expect(parts.map(\.fingerprint) == [.capture, .capture, .capture, nil])
        try output.append(30, unfiltered: true)
        let sidecar = try output.finish(endedBy: .stop, levels: [])
        #expect(Array(sidecar.parts.prefix(2)) == finished.parts)
        try expectFingerprints(sidecar)
    }

    /// A take with a twin in two parts. 1000 frames are synced, and 50 + 30 are not, since that sync failed.
    private func takeWithFailedSync() throws -> TakeOutput {
        let output = try TakeOutput(directory, keepsUnfiltered: true, splitBytes: 8192)
        try output.append(1000, unfiltered: true)
        try output.sync()
        try output.append(50, unfiltered: true)
        try output.append(30, unfiltered: true)
        calls.setPlan { _, verb in verb == "fsync" || verb == "fdatasync" ? EIO : nil }
        #expect(throws: FileError.self) { try output.sync() }
        return output
    }

    /// Simulates a kernel that discards data which it failed to write. The second part begins with frame 896.
    private func discard(_ frames: Range<Int64>, of output: TakeOutput, _ suffix: String) throws {
        let path = "\(directory.path)/2026-11-21/\(output.name.stem.file("-p2\(suffix).wav.part"))"
        let old = [UInt8](repeating: 0x2a, count: frames.count * 4)
        try FileSystem().write(old, to: FileSystem().open(path), at: 4096 + (frames.lowerBound - 896) * 4)
    }

    @Test(arguments: [
        (Int64(1000)..<Int64(1080), "", Int64(1000)), (1049..<1050, "-raw", 1000), (1050..<1051, "", 1050),
        (1079..<1080, "-raw", 1050), (1080..<1080, "", 1080),
    ])
    func `after a sync that failed, the fingerprint is that of the frames that stay`(
        lost: Range<Int64>, suffix: String, expected: Int64
    ) throws {
        let output = try takeWithFailedSync()
        calls.setPlan { _, _ in nil }
        try discard(lost, of: output, suffix)
        #expect(output.abandon(endedBy: .storageError, levels: []).isFinished)
        let sidecar = try directory.sidecar(of: output.name)
        #expect(sidecar.frames == expected)
        try expectFingerprints(sidecar)
    }

    @Test func `a take that failing storage leaves to recovery has no fingerprint of a part that may grow`() throws {
        let output = try takeWithFailedSync()
        #expect(!output.abandon(endedBy: .storageError, levels: []).isFinished)
        let parts = try draft(of: output).parts
        #expect(parts.map(\.frames) == [896, 104])
        #expect(parts.map(\.fingerprint) == [.capture, nil])
        #expect(parts[1].soundSHA256 == nil && parts[1].unfilteredSoundSHA256 == nil)
    }

    @Test(arguments: ["", "-raw"]) func `a write that fails leaves the fingerprint of the frames before it`(
        suffix: String
    ) throws {
        let output = try TakeOutput(directory, keepsUnfiltered: true)
        try output.append(100, unfiltered: true)
        try output.sync()
        try output.append(50, unfiltered: true)
        let refused = "2026-11-21/\(output.name.stem.file("\(suffix).wav.part"))"
        calls.setRefusal { verb, subject in verb == "write" && subject == refused ? ENOSPC : nil }
        #expect(throws: FileError.self) { try output.append(30, unfiltered: true) }
        calls.setRefusal { _, _ in nil }
        #expect(output.abandon(endedBy: .diskFull, levels: []).isFinished)
        let sidecar = try directory.sidecar(of: output.name)
        #expect(sidecar.frames == 150)
        try expectFingerprints(sidecar)
    }

    @Test func `without fingerprints a take is the same but for them`() throws {
        let name = try directory.nextTake(kit: "heron07", started: morning)
        let output = try TakeOutput(
            in: directory, name: name, sidecar: testSidecar(name), started: morning, format: stereo16,
            hasFingerprint: false)
        try output.append(100)
        let sidecar = try output.finish(endedBy: .stop, levels: [])
        #expect(sidecar.parts[0].fingerprint == nil && sidecar.parts[0].soundSHA256 == nil)
        #expect(try stored(sidecar.parts[0].file, sidecar.parts[0], channels: 2) == sound(0..<100, stereo16)[...])
    }
}
