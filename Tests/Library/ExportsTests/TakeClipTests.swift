import Digests
import DiskCalls
import Exports
import Foundation
import TakeFiles
import Takes
import Testing

@Suite(.waitsOnNamedThreads) struct TakeClipTests {
    private func made(
        _ take: MadeTake, _ range: Range<Int64>, _ format: TakeClip.Format = .wav
    ) throws -> (clip: TakeClip, bytes: [UInt8]) {
        var clip = try TakeClip(range, of: TakeSound(of: take.sidecar, in: take.folder), as: format)
        let first = clip
        var bytes: [UInt8] = []
        while let piece = try clip.next() { bytes += piece }
        return (first, bytes)
    }

    private func refusal(_ take: MadeTake, _ range: Range<Int64>, _ format: TakeClip.Format = .wav) -> String? {
        do {
            _ = try made(take, range, format)
            return nil
        } catch {
            return "\(error)"
        }
    }

    @Test(arguments: [SampleFormat.s16, .s24Packed, .s32, .float])
    func `a WAV clip has the take's samples bit for bit, and is as long as it said`(_ format: SampleFormat) throws {
        let take = try MadeTake(format, channels: 3, parts: [(0, 9000), (9000, 11_001)])
        for range in [0..<20_001, 0..<1, 20_000..<20_001, 8999..<9001, 4000..<16_111] as [Range<Int64>] {
            let (clip, bytes) = try made(take, range)
            #expect(clip.byteCount == Int64(bytes.count))
            let sound = take.bytes(range)
            #expect(Array(bytes[WAVHeader.byteCount..<WAVHeader.byteCount + sound.count]) == sound)
            #expect(clip.name == "heron07-0007_20261121_061811-\(range.lowerBound)-\(range.upperBound).wav")
        }
    }

    @Test(arguments: [SampleFormat.s16, .s24Packed])
    func `a FLAC clip decodes to the take's samples bit for bit, with its markers`(_ format: SampleFormat) throws {
        let take = try MadeTake(format, parts: [(0, 30_000)], markers: [100, 12_000, 20_000])
        let before = try FileManager.default.contentsOfDirectory(atPath: take.folder)
        let (_, bytes) = try made(take, 10_000..<25_000, .flac)
        #expect(try FileManager.default.contentsOfDirectory(atPath: take.folder) == before)
        // Players read this before playing: the length, and the MD5 of the sound.
        let info = Array(bytes[8..<42])
        let frames = info[14..<18].reduce(Int(info[13] & 0x0f)) { ($0 << 8) | Int($1) }
        #expect(frames == 15_000)
        #expect(Array(info[18...]) == Digest.of(take.bytes(10_000..<25_000), .md5))
        let path = "\(take.folder)/clip.flac"
        try Data(bytes).write(to: URL(filePath: path))
        var file = try SoundFileReader(path: path)
        #expect(file.frames == 15_000)
        var samples = [Int32](repeating: 0, count: 30_000)
        var span = samples.mutableSpan
        #expect(try file.read(into: &span) == 15_000)
        let width = format.bytesPerSample
        let found = samples.flatMap { sample in ((4 - width)..<4).map { UInt8(truncatingIfNeeded: sample >> (8 * $0)) }
        }
        #expect(found == take.bytes(10_000..<25_000))
        #expect(String(decoding: bytes.prefix(12_000), as: UTF8.self).contains("CHAPTER001NAME=marker 12000"))
    }

    @Test func `a FLAC clip that would lose bits is refused`() throws {
        let take = try MadeTake(.s32, parts: [(0, 1000)])
        let frame = try #require(
            (0..<1000).first { frame in
                let bytes = take.bytes(Int64(frame)..<Int64(frame) + 1)
                return stride(from: 0, to: bytes.count, by: 4).contains { bytes[$0] != 0 }
            })
        let more = "has more than 24 bits, which FLAC does not hold here: choose WAV"
        #expect(refusal(take, 0..<1000, .flac) == "clip: heron07-0007_20261121_061811: frame \(frame) \(more)")
    }

    @Test func `markers inside are kept, moved by the beginning, and so is the time`() throws {
        let take = try MadeTake(parts: [(0, 96_000)], markers: [10, 48_000, 60_000])
        let (_, bytes) = try made(take, 48_000..<60_000)
        let path = "\(take.folder)/clip.wav"
        try Data(bytes).write(to: URL(filePath: path))
        let file = try SoundFileReader(path: path)
        #expect(file.cues() == [.init(frame: 0, label: "marker 48000")])
        #expect(file.origin()?.started?.iso8601 == "2026-11-21T06:18:12.250000Z")
        #expect(file.frames == 12_000)
    }

    /// The chunk of a region in a WAV file: number, length, purpose, and an empty text.
    private func region(_ number: UInt8, frames: UInt16) -> [UInt8] {
        var chunk = Array("ltxt".utf8) + [21, 0, 0, 0, number, 0, 0, 0]
        chunk += [UInt8(truncatingIfNeeded: frames), UInt8(frames >> 8), 0, 0]
        return chunk + Array("rgn ".utf8) + [UInt8](repeating: 0, count: 10)
    }

    @Test func `a region that lies partly in a clip is cut at its ends, and is a region in the file`() throws {
        let regions: [(start: Int64, end: Int64)] = [
            (10, 48_000), (20, 48_300), (48_100, 48_200), (59_000, 90_000), (30, 96_000),
        ]
        let take = try MadeTake(parts: [(0, 96_000)], regions: regions)
        let (clip, bytes) = try made(take, 48_000..<60_000)
        #expect(clip.byteCount == Int64(bytes.count))
        let path = "\(take.folder)/clip.wav"
        try Data(bytes).write(to: URL(filePath: path))
        #expect(
            try SoundFileReader(path: path).cues() == [
                .init(frame: 0, label: "region 20"), .init(frame: 100, label: "region 48100"),
                .init(frame: 11_000, label: "region 59000"), .init(frame: 0, label: "region 30"),
            ])
        let lengths: [UInt16] = [300, 100, 1000, 12_000]
        for (index, frames) in lengths.enumerated() {
            #expect(bytes.firstRange(of: region(UInt8(index + 1), frames: frames)) != nil, "\(frames)")
        }
        let (_, flac) = try made(take, 48_000..<60_000, .flac)
        let head = String(decoding: flac.prefix(12_000), as: UTF8.self)
        // By frame, then in the order of the take.
        for (index, frames) in [300, 12_000, 100, 1000].enumerated() {
            #expect(head.contains("CHAPTER00\(index + 1)FRAMES=\(frames)"), "\(frames)")
        }
    }

    @Test func `where the card was away a clip is silent`() throws {
        let take = try MadeTake(parts: [(0, 5000), (12_000, 4000)])
        let (_, bytes) = try made(take, 4000..<13_000)
        #expect(Array(bytes[WAVHeader.byteCount...]) == take.bytes(4000..<13_000))
    }

    @Test func `what is no range, or no such format, is refused`() throws {
        let take = try MadeTake(.float, parts: [(0, 1000)])
        let allowed =
            "clip: heron07-0007_20261121_061811 has frames 0 to 1000: from must lie before to, and both among them"
        #expect(refusal(take, 5..<5) == allowed)
        #expect(refusal(take, 0..<1001) == allowed)
        #expect(refusal(take, -1..<10) == allowed)
        #expect(
            refusal(take, 0..<10, .flac)
                == "clip: heron07-0007_20261121_061811: FLAC holds no FLOAT_LE here, only integers of up to 24 bits: choose WAV"
        )
        try FileManager.default.removeItem(atPath: "\(take.folder)/heron07-0007_20261121_061811.wav")
        #expect(refusal(take, 0..<10)?.contains("No such file") == true)
        try FileManager.default.createSymbolicLink(
            atPath: "\(take.folder)/heron07-0007_20261121_061811.wav", withDestinationPath: "/etc/passwd")
        #expect(refusal(take, 0..<10)?.contains("Too many levels of symbolic links") == true)
    }

    @Test func `a file that is shorter than its sidecar says is refused`() throws {
        let take = try MadeTake(parts: [(0, 1000)])
        let path = "\(take.folder)/heron07-0007_20261121_061811.wav"
        try Data(try Data(contentsOf: URL(filePath: path)).prefix(6000)).write(to: URL(filePath: path))
        #expect(refusal(take, 0..<10)?.contains("and its sidecar says 1000") == true)
    }
}
