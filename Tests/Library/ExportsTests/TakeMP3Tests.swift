import DiskCalls
import Foundation
import OtherPrograms
import TakeFiles
import Takes
import Testing

@testable import Exports

@Suite(.waitsOnNamedThreads) struct TakeMP3Tests {
    private func made(_ take: MadeTake, _ range: Range<Int64>) throws -> (name: String, bytes: [UInt8]) {
        var mp3 = try TakeMP3(range, of: TakeSound(of: take.sidecar, in: take.folder))
        #expect(mp3.byteCount == nil)
        var bytes: [UInt8] = []
        while let piece = try mp3.next() {
            #expect(piece.count <= 64 << 10)
            bytes += piece
        }
        return (mp3.name, bytes)
    }

    private func refusal(_ take: Sidecar, _ range: Range<Int64>, in folder: String) -> ExportError? {
        do {
            _ = try TakeMP3(range, of: TakeSound(of: take, in: folder))
            return nil
        } catch {
            return error as? ExportError
        }
    }

    /// The frames of an MP3 of 48 kHz with a constant bit rate, or nil if it has anything else.
    private func frameCount(_ bytes: [UInt8], kilobits: Int) -> Int? {
        // Layer III of MPEG-1, without a checksum: 1152 samples in each frame.
        let codes = [64: UInt8(5), 128: 9]
        let length = 144 * kilobits / 48
        guard bytes.count % length == 0, let code = codes[kilobits] else { return nil }
        for start in stride(from: 0, to: bytes.count, by: length) {
            guard Array(bytes[start..<start + 3]) == [0xff, 0xfb, code << 4 | 1 << 2] else { return nil }
        }
        return bytes.count / length
    }

    @Test(
        .enabled(if: MP3Writer.isAvailable, "libsndfile writes no MP3"), arguments: [(1, 64), (2, 128), (3, 128)])
    func `a whole take has as many frames as its sound needs, with 64 kbit a second for each channel`(
        channels: Int, kilobits: Int
    ) throws {
        let take = try MadeTake(channels: channels, parts: [(0, 100_000), (110_000, 20_000)])
        let (name, bytes) = try made(take, 0..<Int64.max)
        #expect(name == "heron07-0007_20261121_061811.mp3")
        let needed = (130_000 + 1151) / 1152
        // A silent one at the beginning, and the delay of encoders.
        let count = try #require(frameCount(bytes, kilobits: kilobits))
        #expect((needed...needed + 4).contains(count))
    }

    @Test(.enabled(if: MP3Writer.isAvailable, "libsndfile writes no MP3"))
    func `a stretch has its frames in its name, in the copies' own name too`() throws {
        let take = try MadeTake(parts: [(0, 100_000)])
        let (name, bytes) = try made(take, 48_000..<96_000)
        #expect(name == "heron07-0007_20261121_061811-48000-96000.mp3")
        let count = try #require(frameCount(bytes, kilobits: 128))
        #expect((42...46).contains(count))
    }

    @Test(.enabled(if: MP3Writer.isAvailable, "libsndfile writes no MP3"), .needs(.ffmpeg))
    func `another decoder finds the sound`() throws {
        let take = try MadeTake(parts: [(0, 100_000)])
        let path = "\(take.folder)/made.mp3"
        try Data(made(take, 0..<100_000).bytes).write(to: URL(filePath: path))
        let report = try OtherProgram.ffmpeg.output([
            "-hide_banner", "-nostdin", "-i", path, "-af", "volumedetect", "-f", "null", "-",
        ])
        #expect(report.contains("mp3") && report.contains("48000 Hz, stereo"), "\(report)")
        // Noise of full scale has a mean of -4.8 dB; the encoder leaves out the highest frequencies.
        let text = report.components(separatedBy: "mean_volume: ").last?.prefix { $0 != " " }
        let mean = text.flatMap { Double($0) } ?? 0
        #expect(mean > -10 && mean < -4, "\(report)")
    }

    @Test func `more than two channels become two: the odd ones and the even ones`() {
        #expect(TakeMP3.mixed([1, 2, 3, 4], channels: 1) == [1, 2, 3, 4])
        #expect(TakeMP3.mixed([1, 2, 3, 4], channels: 2) == [1, 2, 3, 4])
        #expect(TakeMP3.mixed([1, 2, 3, 5, 6, 7], channels: 3) == [2, 2, 6, 6])
        #expect(TakeMP3.mixed([1, 2, 3, 4], channels: 4) == [2, 3])
    }

    @Test func `what MP3 cannot hold is refused in a sentence`() throws {
        let take = try MadeTake(parts: [(0, 1000)])
        let empty = refusal(take.sidecar, 1000..<2000, in: take.folder)
        #expect(empty?.kind == .usage)
        #expect(
            empty?.description
                == "mp3: heron07-0007_20261121_061811 has frames 0 to 1000: from must lie before to, and among them")
        var fast = take.sidecar
        fast.rateHz = 96_000
        for index in fast.parts.indices { fast.parts[index].rateHz = 96_000 }
        let format = StreamFormat(rateHz: 96_000, channels: 2, sampleFormat: .s16)
        let origin = BroadcastOrigin(
            sidecar: fast, started: WallTime(microseconds: 0), firstFrame: 0, format: format, isUnfiltered: false)
        let wave = WAVHeader(format: format, origin: origin).bytes(dataBytes: 4000) + [UInt8](repeating: 1, count: 4000)
        try Data(wave).write(to: URL(filePath: "\(take.folder)/\(fast.parts[0].file)"))
        let refused = refusal(fast, 0..<1000, in: take.folder)
        #expect(refused?.kind == .take)
        #expect(
            refused?.description
                == "mp3: heron07-0007_20261121_061811 has 96000 Hz, and MP3 has only 8000, 11025, 12000, 16000, 22050, "
                + "24000, 32000, 44100, 48000 Hz: ask for WAV or FLAC")
    }
}
