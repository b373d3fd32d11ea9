import Files
import Glibc
import PowerCuts
import Takes
import TestBench
import Testing

@testable import TakeFiles

/// A finished take with fingerprints. The tests damage its files.
private struct FingerprintedTake {
    let scratch = TestFolder(in: .memory)
    let directory: TakesDirectory
    let take: TakeName
    var folder: String { "\(directory.path)/\(take.day)" }

    init(
        _ format: StreamFormat = stereo16, frames: Int64 = 20_001, parts: Int = 2, keepsUnfiltered: Bool = true,
        hasFingerprint: Bool = true
    ) throws {
        directory = try TakesDirectory(path: scratch.path + "/takes")
        let output = try TakeOutput(directory, format, keepsUnfiltered: keepsUnfiltered)
        for part in 0..<parts {
            if part > 0 { try output.beginPart(format: format, firstFrame: output.nextFrame) }
            try output.append(frames, format, unfiltered: keepsUnfiltered)
        }
        output.note(.marker(Sidecar.Marker(atFrame: TakeFrame(100), note: "wren")))
        take = output.name
        _ = try output.finish(
            endedBy: .stop,
            levels: (0..<format.channels).map { _ in
                Sidecar.Levels(peakDBFS: nil, rmsDBFS: nil, clippedFrames: 0, filterClippedFrames: 0)
            })
        let (folder, files) = (folder, FileSystem())
        let sounds = try sidecar.sounds
        _ = try directory.revise(take) { sidecar in
            for (index, part) in sidecar.parts.enumerated() {
                let size = Int(part.frames) * format.stored.bytesPerFrame
                func hash(_ file: String) -> String? {
                    guard hasFingerprint else { return nil }
                    var digest = SoundDigest()
                    guard let file = try? files.openToRead("\(folder)/\(file)"),
                        let bytes = try? files.read(file, at: Int64(WAVHeader.byteCount), count: size)
                    else { return nil }
                    digest.update(bytes)
                    return digest.hexadecimal
                }
                sidecar.parts[index].soundSHA256 = hash(part.file)
                sidecar.parts[index].unfilteredSoundSHA256 = part.unfilteredFile.flatMap(hash)
                sidecar.parts[index].fingerprint = hasFingerprint ? .capture : nil
            }
        }
        #expect(sounds.count == parts * (keepsUnfiltered ? 2 : 1))
    }

    var sidecar: Sidecar { get throws { try directory.sidecar(of: take) } }

    func findings() throws -> [SoundFinding?] {
        try sidecar.sounds.map { try SoundCheck($0, in: folder).run() }
    }

    func bytes(_ index: Int) throws -> [UInt8] {
        try FileSystem().contents("\(folder)/\(sidecar.sounds[index].file)", limit: 1 << 30)
    }

    func write(_ index: Int, _ bytes: [UInt8]) throws {
        let files = FileSystem()
        let file = try files.create("\(folder)/\(sidecar.sounds[index].file)", isNew: false)
        try files.write(bytes, to: file, at: 0)
    }

    func convert() throws {
        let conversion = FLACConversion(of: take, in: directory, reserveBytes: 0)
        _ = try directory.revise(take) { $0.pendingFormat = "flac" }
        while try conversion.step() == nil {}
        #expect(try sidecar.audioFiles.allSatisfy { $0.hasSuffix(".flac") })
    }
}

/// The kernel's calls, with a count of the bytes read.
private final class CountedReads: ForwardedCalls {
    let kernel = KernelCalls()
    private let count = Locked<Int64>(0)
    var byteCount: Int64 { count.withLock { $0 } }

    func pread(_ descriptor: Int32, _ bytes: UnsafeMutableRawBufferPointer, at offset: Int64) throws(Errno) -> Int {
        let read = try kernel.pread(descriptor, bytes, at: offset)
        count.withLock { $0 += Int64(read) }
        return read
    }
}

@Suite struct SoundCheckTests {
    static let formats = [
        stereo16, StreamFormat(rateHz: 44_100, channels: 1, sampleFormat: .s24),
        StreamFormat(rateHz: 192_000, channels: 8, sampleFormat: .s24Packed),
        StreamFormat(rateHz: 8000, channels: 3, sampleFormat: .s16),
        StreamFormat(rateHz: 48_000, channels: 2, sampleFormat: .s32),
        StreamFormat(rateHz: 48_000, channels: 2, sampleFormat: .s32, significantBits: 24),
        StreamFormat(rateHz: 48_000, channels: 1, sampleFormat: .float),
    ]

    @Test(arguments: formats)
    func `a whole take is as recorded in each format, parts and twins`(format: StreamFormat) throws {
        let tested = try FingerprintedTake(format)
        let hashes = try tested.sidecar.sounds.compactMap(\.sha256)
        #expect(hashes.count == 4)
        #expect(try tested.findings() == hashes.map { .asRecorded(sha256: $0) })
    }

    @Test(arguments: formats.filter { $0.sampleFormat != .float && $0.stored.sampleFormat != .s32 })
    func `a conversion to FLAC keeps the fingerprint`(format: StreamFormat) throws {
        let tested = try FingerprintedTake(format)
        let hashes = try tested.sidecar.sounds.compactMap(\.sha256)
        try tested.convert()
        #expect(try tested.findings() == hashes.map { .asRecorded(sha256: $0) })
    }

    @Test func `without a fingerprint the length is compared, and the hash is said`() throws {
        let tested = try FingerprintedTake(hasFingerprint: false)
        let proven = try FingerprintedTake()
        let hashes = try proven.sidecar.sounds.compactMap(\.sha256)
        #expect(try tested.findings() == hashes.map { .unproven(sha256: $0) })
        try tested.write(0, Array(tested.bytes(0).prefix(30_000)))
        #expect(try tested.findings()[0] == .cut(frames: (30_000 - 4096) / 4))
    }

    /// A kind of damage, and the expected finding.
    enum Damage: String, CaseIterable {
        case half, emptied, zeroedHeader, cutHeader, another, anotherOfThatLength, oneBit, longerData, shorterData
        case missing, rate, channels, folder, link
    }

    @Test(arguments: Damage.allCases, [0, 1, 2, 3])
    func `damage of any file of a take is found, and the others are as recorded`(damage: Damage, index: Int) throws {
        let tested = try FingerprintedTake()
        let sound = try tested.sidecar.sounds[index]
        let path = "\(tested.folder)/\(sound.file)"
        var bytes = try tested.bytes(index)
        let before = bytes
        let expected: (SoundFinding) -> Bool
        switch damage {
        case .half:
            bytes = Array(bytes.prefix(bytes.count / 2))
            expected = { $0 == .cut(frames: Int64(before.count / 2 - 4096) / 4) }
        case .emptied:
            bytes = []
            expected = { $0 == .unreadable("it is empty") }
        case .zeroedHeader:
            bytes.replaceSubrange(..<4096, with: [UInt8](repeating: 0, count: 4096))
            expected = {
                $0 == .unreadable("its header is damaged: it does not begin as WAV or FLAC")
            }
        case .cutHeader:
            bytes = Array(bytes.prefix(9))
            expected = { $0 == .unreadable("it ends within its header") }
        case .another:
            bytes = try FingerprintedTake(frames: 300, parts: 1).bytes(0)
            expected = { $0 == .otherLength(frames: 300) }
        case .anotherOfThatLength:
            bytes = try tested.bytes(index ^ 1)
            expected = { if case .differs = $0 { true } else { false } }
        case .oneBit:
            bytes[5000] ^= 4
            expected = { if case .differs = $0 { true } else { false } }
        case .longerData:
            bytes.replaceSubrange(4092..<4096, with: [0, 0, 2, 0])
            expected = {
                $0 == .unreadable("its header is damaged: its sizes contradict each other")
                    || $0 == .otherLength(frames: 32768)
            }
        case .shorterData:
            bytes.replaceSubrange(4092..<4096, with: [0, 0, 1, 0])
            expected = { $0 == .otherLength(frames: 16384) }
        case .missing:
            unlink(path)
            expected = { $0 == .missing }
        case .rate:
            let place = try #require(bytes.firstRange(of: Array("fmt ".utf8))).lowerBound + 12
            bytes.replaceSubrange(place..<place + 4, with: [0x44, 0xac, 0, 0])
            var format = stereo16
            format.rateHz = 44_100
            expected = { [format] in $0 == .otherFormat(format) }
        case .channels:
            let place = try #require(bytes.firstRange(of: Array("fmt ".utf8))).lowerBound + 10
            bytes[place] = 1
            expected = { if case .unreadable = $0 { true } else { false } }
        case .folder:
            unlink(path)
            mkdir(path, 0o755)
            expected = { $0 == .unreadable("it is not a file") }
        case .link:
            rename(path, path + ".moved")
            symlink(path + ".moved", path)
            expected = { $0 == .unreadable("it is a link, and no file") }
        }
        if ![.missing, .folder, .link].contains(damage) { try tested.write(index, bytes) }
        let findings = try tested.findings()
        let found = try #require(findings[index])
        #expect(expected(found), "\(found)")
        #expect(found.isDamage && !found.sentence(sound).isEmpty)
        #expect(findings.enumerated().allSatisfy { $0.offset == index || $0.element?.isDamage == false })
    }

    @Test(arguments: [false, true])
    func `damage of FLAC is found with a fingerprint and without`(hasFingerprint: Bool) throws {
        let tested = try FingerprintedTake(parts: 1, keepsUnfiltered: false, hasFingerprint: hasFingerprint)
        try tested.convert()
        let whole = try tested.bytes(0)
        #expect(try tested.findings()[0]?.isDamage == false)
        var flipped = whole
        flipped[whole.count - 5000] ^= 0x10
        for bytes in [flipped, Array(whole.prefix(whole.count / 2)), [], Array(whole.dropFirst(8))] {
            try tested.write(0, bytes)
            #expect(try tested.findings()[0]?.isDamage == true)
        }
    }

    @Test func `chunks may come in any order, and what is no sound may change`() throws {
        let tested = try FingerprintedTake(parts: 1, keepsUnfiltered: false)
        let bytes = try tested.bytes(0)
        let sound = try tested.sidecar.sounds[0]
        let data = Array(bytes[4096..<4096 + Int(sound.frames) * 4])
        let format = try #require(bytes.firstRange(of: Array("fmt ".utf8))).lowerBound
        func chunk(_ name: String, _ content: [UInt8]) -> [UInt8] {
            var chunk = Array(name.utf8)
            chunk.append(littleEndian: UInt32(content.count))
            return chunk + content + (content.count % 2 == 1 ? [0] : [])
        }
        let formatChunk = chunk("fmt ", Array(bytes[format + 8..<format + 24]))
        for chunks in [
            formatChunk + chunk("data", data), chunk("data", data) + formatChunk,
            chunk("LIST", [1, 2, 3]) + formatChunk + chunk("junk", []) + chunk("data", data) + chunk("id3 ", [7]),
        ] {
            var file = Array("RIFF".utf8)
            file.append(littleEndian: UInt32(4 + chunks.count))
            try tested.write(0, file + Array("WAVE".utf8) + chunks)
            #expect(try tested.findings() == [.asRecorded(sha256: try #require(sound.sha256))])
        }
    }

    @Test func `the bytes may come in pieces of any length`() throws {
        let tested = try FingerprintedTake(frames: 301, parts: 1, keepsUnfiltered: false)
        let bytes = try tested.bytes(0)
        for piece in [1, 3, 7, 64, 4095, 4096, 10_000] {
            var sound = WAVSound()
            var samples: [UInt8] = []
            for start in stride(from: 0, to: bytes.count, by: piece) {
                let some = Array(bytes[start..<min(bytes.count, start + piece)])
                samples += some[sound.update(some)]
            }
            let recorded = try tested.sidecar.sounds[0]
            #expect(samples == Array(bytes[4096..<4096 + 301 * 4]))
            #expect(recorded.finding(sound.outcome) == .asRecorded(sha256: try #require(recorded.sha256)))
        }
    }

    @Test(arguments: formats, [false, true])
    func `the samples are passed on while the file is read once`(format: StreamFormat, isFLAC: Bool) throws {
        guard !isFLAC || format.sampleFormat != .float && format.stored.sampleFormat != .s32 else { return }
        let tested = try FingerprintedTake(format, frames: 100_001, parts: 1, keepsUnfiltered: false)
        let samples = try tested.bytes(0).dropFirst(WAVHeader.byteCount).prefix(100_001 * format.stored.bytesPerFrame)
        if isFLAC { try tested.convert() }
        let sound = try tested.sidecar.sounds[0]
        let calls = CountedReads()
        var passed: [UInt8] = []
        let check = SoundCheck(sound, in: tested.folder, hashesWhole: true, files: FileSystem(calls: calls)) { bytes in
            bytes.withUnsafeBytes { passed += $0 }
        }
        #expect(try check.run() == .asRecorded(sha256: try #require(sound.sha256)))
        #expect(passed == Array(samples))
        // The first four bytes decide how the file is read. libsndfile decodes FLAC by its own calls.
        #expect(calls.byteCount == Int64(4 + (try tested.bytes(0).count)))
    }

    @Test func `the hash of the whole file is that of all of its bytes, and a check may be cancelled`() throws {
        let tested = try FingerprintedTake(frames: 200_000, parts: 1, keepsUnfiltered: false)
        let sound = try tested.sidecar.sounds[0]
        var digest = SoundDigest()
        digest.update(try tested.bytes(0))
        let check = SoundCheck(sound, in: tested.folder, hashesWhole: true)
        #expect(try check.run()?.isDamage == false)
        #expect(check.wholeSHA256 == digest.hexadecimal)
        var slices = 0
        let cut = SoundCheck(sound, in: tested.folder)
        #expect(
            try cut.run {
                slices += 1
                return slices > 1
            } == nil)
        try tested.convert()
        let flac = SoundCheck(try tested.sidecar.sounds[0], in: tested.folder, hashesWhole: true)
        #expect(try flac.run()?.isDamage == false)
        var other = SoundDigest()
        other.update(try tested.bytes(0))
        #expect(flac.wholeSHA256 == other.hexadecimal)
    }

    @Test func `a file that cannot be read is neither whole nor damaged`() throws {
        let tested = try FingerprintedTake(parts: 1, keepsUnfiltered: false)
        let calls = FaultyCalls(root: tested.directory.path) { _, call in call.hasPrefix("read") ? EIO : nil }
        #expect(throws: FileError.self) {
            _ = try SoundCheck(tested.sidecar.sounds[0], in: tested.folder, files: FileSystem(calls: calls)).run()
        }
    }
}
