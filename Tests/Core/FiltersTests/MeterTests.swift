import Filters
import Glibc
import Takes
import Testing

@Suite struct MeterTests {
    @Test func `a square at full scale is 0 dBFS, a sine 3.01 less`() {
        let square = Sound.levels(Sound.bytes([Int16](repeating: -32768, count: 1000)), Sound.format(.s16))[0]
        #expect(square.peakDBFS == 0)
        #expect(square.rmsDBFS == 0)
        let sine = Sound.sine(1000, amplitude: 1, frameCount: 48000).map { Float($0) }
        let levels = Sound.levels(Sound.bytes(sine), Sound.format(.float))[0]
        #expect(levels.peakDBFS == 0)
        #expect(abs(levels.rmsDBFS! + 3.0103) < 1e-4)
    }

    @Test func `silence has no level`() {
        let levels = Sound.levels([UInt8](repeating: 0, count: 4000), Sound.format(.s16, channels: 2))
        #expect(levels == [ChannelLevels(), ChannelLevels()])
        #expect(levels[0].peakDBFS == nil)
        #expect(levels[0].rmsDBFS == nil)
    }

    @Test func `each channel has its own levels`() {
        let channels = 7
        let samples = (0..<600 * channels).map { (index: Int) -> Int16 in
            let size = (index % channels + 1) * 1000
            return Int16(index / channels % 2 == 0 ? size : -size)
        }
        let levels = Sound.levels(Sound.bytes(samples), Sound.format(.s16, channels: channels))
        let expected = (1...channels).map { number in
            let size = Double(number * 1000) / 32768
            return ChannelLevels(peak: size, meanSquare: size * size)
        }
        #expect(levels == expected)
    }

    @Test func `frames at the converter's limit are counted in every format`() {
        func clipped(_ bytes: [UInt8], _ format: SampleFormat) -> Int64 {
            Sound.levels(bytes, Sound.format(format))[0].clippedFrames
        }
        #expect(clipped(Sound.bytes([32767, 32766, -32768, -32767, 0] as [Int16]), .s16) == 2)
        let wide: [Int32] = [8_388_607, 8_388_606, -8_388_608, -8_388_607, 0]
        #expect(clipped(Sound.packed(wide), .s24Packed) == 2)
        #expect(clipped(Sound.bytes(wide), .s24) == 2)
        let words: [Int32] = [.max, 0x7FFF_FF00, 0x7FFF_FEFF, .min, .min + 0xFF, .min + 0x100, 0]
        #expect(clipped(Sound.bytes(words), .s32) == 4)
        #expect(clipped(Sound.bytes([1, 0.9999999, -1, -1.5, 0] as [Float]), .float) == 3)
    }

    @Test(arguments: [16, 18, 20, 24])
    func `a converter of few bits in 32 is at its limit at its own highest code`(bits: Int) {
        let step = Int32(1) << (32 - bits)
        let words = [.max - step + 1, .max - 2 * step + 1, .min, .min + step, 0]
        #expect(Sound.levels(Sound.bytes(words), Sound.format(.s32, bits: bits))[0].clippedFrames == 2)
        // Bits below the significant ones have no effect.
        let junk = words.map { $0 | step - 1 }
        #expect(Sound.levels(Sound.bytes(junk), Sound.format(.s32, bits: bits))[0].clippedFrames == 2)
    }

    @Test func `a converter of few bits in 16 and in 24 is at its limit at its own highest code`() {
        let shorts: [Int16] = [32752, 32736, -32768, -32752, 0]
        #expect(Sound.levels(Sound.bytes(shorts), Sound.format(.s16, bits: 12))[0].clippedFrames == 2)
        let wide: [Int32] = [8_388_592, 8_388_576, -8_388_608, -8_388_592, 0]
        #expect(Sound.levels(Sound.bytes(wide), Sound.format(.s24, bits: 20))[0].clippedFrames == 2)
        #expect(Sound.levels(Sound.packed(wide), Sound.format(.s24Packed, bits: 20))[0].clippedFrames == 2)
    }

    @Test func `recent levels start again with each call, and those of the take continue`() {
        let path = SignalPath(format: Sound.format(.s16), design: .off(rateHz: 48000))
        func level(_ sample: Int16, _ frames: Int) -> ChannelLevels {
            _ = path.process(Sound.bytes([Int16](repeating: sample, count: frames)))
            return path.takeRecentLevels()[0]
        }
        func expected(_ sample: Double, clipped: Int64 = 0) -> ChannelLevels {
            ChannelLevels(peak: sample / 32768, meanSquare: sample * sample / 0x4000_0000, clippedFrames: clipped)
        }
        // Within a pixel, and across its end.
        #expect(level(8192, 100) == expected(8192))
        #expect(level(4096, 100) == expected(4096))
        #expect(level(32767, 1000) == expected(32767, clipped: 1000))
        #expect(level(1024, 10) == expected(1024))
        #expect(path.takeRecentLevels()[0] == ChannelLevels())
        var squares = 100 * 8192.0 * 8192 + 100 * 4096.0 * 4096
        squares += 1000 * 32767.0 * 32767 + 10 * 1024.0 * 1024
        #expect(
            path.levels[0]
                == ChannelLevels(
                    peak: 32767.0 / 32768, meanSquare: squares / 1210 / 0x4000_0000, clippedFrames: 1000))
    }

    @Test func `levels are of what is stored`() throws {
        let design = try FilterDesign(lowPassHz: 1000, highPassHz: nil, slopeDBPerOctave: 24, rateHz: 48000)
        let sine = Sound.sine(2000, amplitude: 0.5, frameCount: 48000).map { Float($0) }
        let path = SignalPath(format: Sound.format(.float), design: design)
        let stored = path.process(Array(sine[..<4800]))
        #expect(path.levels[0].peak == Double(stored.map(abs).max()!))
        #expect(path.levels == Sound.levels(Sound.bytes(stored), Sound.format(.float)))
        // After the filter has settled.
        _ = path.takeRecentLevels()
        _ = path.process(Array(sine[4800...]))
        #expect(abs(path.takeRecentLevels()[0].rmsDBFS! - (design.gainDB(atHz: 2000) - 9.0309)) < 1e-4)
    }

    @Test func `a peak is the higher half of 16 bits, toward zero`() {
        var samples = [Int16](repeating: 0, count: 256 * 4)
        (samples[3], samples[200]) = (32767, -32768)
        (samples[256], samples[511]) = (255, -255)
        (samples[512], samples[600]) = (256, -256)
        // The fourth pixel is positive throughout.
        for index in 768..<1024 { samples[index] = 5000 }
        let path = SignalPath(format: Sound.format(.s16), design: .off(rateHz: 48000))
        _ = path.process(Sound.bytes(samples))
        #expect(path.takePeaks() == [-128, 127, 0, 0, -1, 1, 19, 19])
        #expect(path.takePeaks().isEmpty)
        #expect(path.finishPeaks().isEmpty)
    }

    @Test func `peaks of every format agree, channel by channel, and the last may be short`() {
        let frames = 600
        let left = Noise.samples(frames).map { Int32($0 * 60000) }
        let right = Noise.samples(frames, seed: 7).map { Int32($0 * 20000) }
        let frame16 = zip(left, right).flatMap { [$0, $1] }
        func peaks(_ bytes: [UInt8], _ format: SampleFormat) -> [Int8] {
            let path = SignalPath(format: Sound.format(format, channels: 2), design: .off(rateHz: 48000))
            _ = path.process(bytes)
            return path.finishPeaks()
        }
        var expected: [Int8] = []
        for first in stride(from: 0, to: frames, by: 256) {
            for channel in [left, right] {
                let pixel = channel[first..<min(frames, first + 256)]
                expected += [Int8(pixel.min()! / 256), Int8(pixel.max()! / 256)]
            }
        }
        #expect(peaks(Sound.bytes(frame16.map { Int16($0) }), .s16) == expected)
        // Junk below the highest 16 bits has no effect.
        #expect(peaks(Sound.packed(frame16.map { $0 << 8 | 0x7F }), .s24Packed) == expected)
        #expect(peaks(Sound.bytes(frame16.map { $0 << 8 | 0x7F }), .s24) == expected)
        #expect(peaks(Sound.bytes(frame16.map { $0 << 16 | 0x7FFF }), .s32) == expected)
        #expect(peaks(Sound.bytes(frame16.map { Float($0) / 32767 }), .float) == expected)
    }

    @Test func `peaks that are not taken are kept`() {
        let path = SignalPath(format: Sound.format(.s16), design: .off(rateHz: 48000))
        let minute = [UInt8](repeating: 1, count: 48000 * 2)
        for _ in 0..<60 { _ = path.process(minute) }
        #expect(path.takePeaks() == [Int8](repeating: 1, count: 60 * 48000 / 256 * 2))
    }
}
