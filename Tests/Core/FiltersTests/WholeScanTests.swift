import SeededRandom
import Takes
import Testing

@testable import Filters

/// Sound that is stored unchanged is measured from the card's bytes. The results equal those of a floating-point
/// measurement, bit for bit.
@Suite struct WholeScanTests {
    /// Measures with floating point, as for filtered sound.
    private final class Reference {
        private let format: StreamFormat
        private let coding: SampleCoding
        private var meter: Meter

        init(_ format: StreamFormat) {
            self.format = format
            coding = SampleCoding(format)
            meter = Meter(format)
        }

        func take(_ bytes: [UInt8]) {
            let frames = bytes.count / format.bytesPerFrame
            meter.reserve(frameCount: frames)
            var done = 0
            while done < frames {
                let count = min(frames - done, Meter.framesPerPixel - meter.pixelFrames)
                var samples = [Double](repeating: 0, count: count * format.channels)
                let isAtLimit = bytes.withUnsafeBytes { bytes in
                    coding.read(
                        bytes.baseAddress! + done * format.bytesPerFrame, into: &samples, count: samples.count)
                }
                if isAtLimit { meter.countClipped(samples, frameCount: count) }
                meter.scan(samples, frameCount: count, rounding: false)
                meter.take(frameCount: count)
                done += count
            }
        }

        func takeRecentLevels() -> [ChannelLevels] { meter.takeRecentLevels() }
        func takePeaks() -> [Int8] { meter.takePeaks() }
        func finishPeaks() -> [Int8] { meter.finishPeaks() }
        var levels: [ChannelLevels] { meter.levels }
    }

    enum Sort: CaseIterable {
        /// Each bit is random.
        case noise
        case silence
        /// The converter's lowest code, its highest, and their neighbours.
        case limits
        /// All samples have the lowest code, which gives the largest squares.
        case lowest
        case highest
        /// A few of the lowest bits.
        case quiet
        /// Noise with a limit once in a thousand samples.
        case clicks

        func sample(_ random: inout SeededRandom) -> Int32 {
            switch self {
            case .noise: Int32(truncatingIfNeeded: random.next())
            case .silence: 0
            case .limits: [.min, .min + 1 << 8, .max, .max - 1 << 8, 0][random.below(5)] &+ Int32(random.below(3)) &- 1
            case .lowest: .min
            case .highest: .max
            case .quiet: Int32(truncatingIfNeeded: random.below(5) - 2) << 8
            case .clicks: random.once(in: 1000) ? .max : Int32(truncatingIfNeeded: random.next()) >> 2
            }
        }
    }

    /// Frames as a card delivers them.
    private func bytes(_ format: StreamFormat, frames: Int, _ sort: Sort, _ random: inout SeededRandom) -> [UInt8] {
        (0..<frames * format.channels).flatMap { _ -> [UInt8] in
            let sample = sort.sample(&random)
            return switch format.sampleFormat {
            case .s16: withUnsafeBytes(of: Int16(truncatingIfNeeded: sample >> 16), Array.init)
            case .s24Packed: withUnsafeBytes(of: sample >> 8) { Array($0.prefix(3)) }
            // The highest byte has no meaning.
            case .s24:
                withUnsafeBytes(of: sample >> 8) { Array($0.prefix(3)) } + [UInt8(truncatingIfNeeded: random.next())]
            case .s32, .float: withUnsafeBytes(of: sample, Array.init)
            }
        }
    }

    private static let layouts: [(SampleFormat, Int?)] = [
        (.s16, nil), (.s24Packed, nil), (.s24, nil), (.s32, nil), (.s32, 24), (.s32, 16), (.s24, 20), (.s16, 12),
    ]

    @Test(arguments: layouts, Sort.allCases)
    func `levels, peaks and limits are those of floating point, bit for bit`(
        layout: (SampleFormat, Int?), sort: Sort
    ) {
        var random = SeededRandom(seed: 4)
        for channels in full(1, usually: 0) == 1 ? Array(1...32) : [1, 2, 3, 4, 5, 6, 8, 9, 12, 16, 18, 31] {
            let format = Sound.format(layout.0, channels: channels, bits: layout.1)
            let path = SignalPath(format: format, design: .off(rateHz: format.rateHz))
            let reference = Reference(format)
            for step in 0..<full(30, usually: 2) {
                // Odd counts, single frames, and more than a pixel.
                let frames = [1, 2, 3, 29, 255, 257][random.below(6)] + random.below(2) * random.below(200)
                let bytes = bytes(format, frames: frames, sort, &random)
                let stored = path.process(bytes)
                reference.take(bytes)
                if format.stored.bytesPerFrame == format.bytesPerFrame { #expect(stored == bytes) }
                let comment: Comment = "\(channels) channels, step \(step), \(frames) frames"
                #expect(path.levels == reference.levels, comment)
                if step % 2 == 0 {
                    #expect(path.takeRecentLevels() == reference.takeRecentLevels(), comment)
                    #expect(path.takePeaks() == reference.takePeaks(), comment)
                }
            }
            #expect(path.finishPeaks() == reference.finishPeaks(), "\(channels) channels")
            #expect(path.levels == reference.levels)
        }
    }

    @Test(arguments: layouts) func `bytes at an odd address are measured as well`(layout: (SampleFormat, Int?)) {
        var random = SeededRandom(seed: 5)
        for channels in [1, 2, 3, 6, 16] {
            let format = Sound.format(layout.0, channels: channels, bits: layout.1)
            let path = SignalPath(format: format, design: .off(rateHz: format.rateHz))
            let reference = Reference(format)
            let bytes = bytes(format, frames: 600, .clicks, &random)
            reference.take(bytes)
            var output = [UInt8](repeating: 0, count: 600 * format.stored.bytesPerFrame)
            ([0xFF] + bytes).withUnsafeBytes { shifted in
                output.withUnsafeMutableBytes { output in
                    _ = path.process(UnsafeRawBufferPointer(rebasing: shifted[1...]), into: output)
                }
            }
            #expect(path.levels == reference.levels && path.finishPeaks() == reference.finishPeaks())
        }
    }

    @Test(arguments: layouts) func `nothing is read beyond the last frame or before the first`(
        layout: (SampleFormat, Int?)
    ) {
        // Reading beyond the frames would find samples at the limit.
        for channels in [1, 2, 3, 5, 8] {
            for frames in 1...40 {
                let format = Sound.format(layout.0, channels: channels, bits: layout.1)
                let path = SignalPath(format: format, design: .off(rateHz: format.rateHz))
                let size = format.bytesPerFrame * frames
                let around = [UInt8](repeating: 0x7F, count: 64)
                var output = [UInt8](repeating: 0, count: frames * format.stored.bytesPerFrame)
                (around + [UInt8](repeating: 0, count: size) + around).withUnsafeBytes { bytes in
                    output.withUnsafeMutableBytes { output in
                        _ = path.process(UnsafeRawBufferPointer(rebasing: bytes[64..<64 + size]), into: output)
                    }
                }
                #expect(path.levels.allSatisfy { $0.peak == 0 && $0.meanSquare == 0 && $0.clippedFrames == 0 })
                #expect(path.finishPeaks() == [Int8](repeating: 0, count: 2 * channels))
            }
        }
    }
}
