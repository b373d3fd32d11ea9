import Filters
import Takes
import Testing

@Suite struct SignalPathTests {
    private static let channelCounts = [1, 2, 3, 5, 8, 9, 32]

    private func lowPass(_ hertz: Double, highPassHz: Double? = nil, slope: Int = 24) throws -> FilterDesign {
        try FilterDesign(lowPassHz: hertz, highPassHz: highPassHz, slopeDBPerOctave: slope, rateHz: 48000)
    }

    @Test(arguments: SampleFormat.allCases, channelCounts)
    func `with the filter off every bit passes`(sampleFormat: SampleFormat, channels: Int) {
        let format = Sound.format(sampleFormat, channels: channels)
        // Any pattern of bits, for floats including those that are not numbers.
        let input = Noise.bytes(1000 * format.bytesPerFrame)
        let path = SignalPath(format: format, design: .off(rateHz: 48000))
        let expected =
            sampleFormat == .s24 ? input.enumerated().filter { $0.offset % 4 != 3 }.map(\.element) : input
        #expect(path.process(input) == expected)
    }

    @Test(arguments: [16, 18, 20, 24], channelCounts)
    func `up to 24 bits in 32 are stored in 3 bytes, each of them`(bits: Int, channels: Int) throws {
        let input = Noise.bytes(1000 * 4 * channels)
        let words = Sound.words(input).map { $0 & ~((1 << (32 - Int32(bits))) - 1) }
        let format = Sound.format(.s32, channels: channels, bits: bits)
        let path = SignalPath(format: format, design: .off(rateHz: 48000))
        let stored = path.process(Sound.bytes(words))
        #expect(stored == Sound.packed(words.map { $0 >> 8 }))
        // The file has every sample, so no sample was lost.
        try #require(stored.count == 3 * words.count)
        let back = stride(from: 0, to: stored.count, by: 3).map { place in
            (0..<3).reduce(Int32(0)) { $0 | Int32(stored[place + $1]) << (8 + 8 * $1) }
        }
        #expect(back == words)
        // Bits that the driver declares insignificant are cut off.
        let junk = SignalPath(format: format, design: .off(rateHz: 48000))
        #expect(junk.process(Sound.bytes(words.map { $0 | 0xFF })) == stored)
        #expect(junk.levels == path.levels)
    }

    @Test func `24 bits in the high bytes of 32 are filtered, measured and drawn as those in the low ones`() throws {
        let samples = Noise.samples(3000).map { Int32($0 * 8_388_607) }
        for design in [FilterDesign.off(rateHz: 48000), try lowPass(9000), try lowPass(3000, slope: 48)] {
            let low = SignalPath(format: Sound.format(.s24), design: design)
            let high = SignalPath(format: Sound.format(.s32, bits: 24), design: design)
            #expect(high.process(Sound.bytes(samples.map { $0 << 8 })) == low.process(Sound.bytes(samples)))
            #expect(high.levels == low.levels)
            #expect(high.finishPeaks() == low.finishPeaks())
        }
    }

    @Test(arguments: SampleFormat.allCases)
    func `what is stored as the card delivered it is measured, and not copied`(sampleFormat: SampleFormat) throws {
        let format = Sound.format(sampleFormat, channels: 3)
        let input = Noise.bytes(1000 * format.bytesPerFrame)
        let copying = SignalPath(format: format, design: .off(rateHz: 48000))
        let expected = copying.process(input)
        let path = SignalPath(format: format, design: .off(rateHz: 48000))
        var room = [UInt8](repeating: 0x5A, count: expected.count)
        func run() -> (sound: [UInt8], isCopied: Bool) {
            input.withUnsafeBytes { input in
                room.withUnsafeMutableBytes { room in
                    let sound = path.process(input, using: room)
                    return (Array(sound), sound.baseAddress != input.baseAddress)
                }
            }
        }
        let (sound, isCopied) = run()
        #expect(sound == expected)
        #expect(isCopied == (sampleFormat == .s24))
        #expect(path.levels == copying.levels)
        #expect(path.finishPeaks() == copying.finishPeaks())
        // From the frame at which a filter takes effect, its output is stored.
        path.change(to: try lowPass(9000))
        copying.change(to: try lowPass(9000))
        let other = run()
        #expect(other.isCopied && other.sound == copying.process(input))
    }

    @Test func `the highest byte of 24 bits in 4 has no meaning`() {
        let samples: [Int32] = [0, 1, -1, 8_388_607, -8_388_608, 123_456, -123_456]
        let junk = samples.map { $0 & 0x00FF_FFFF | 0x5A00_0000 }
        let path = SignalPath(format: Sound.format(.s24), design: .off(rateHz: 48000))
        #expect(path.process(Sound.bytes(junk)) == Sound.packed(samples))
        #expect(path.levels == Sound.levels(Sound.packed(samples), Sound.format(.s24Packed)))
    }

    @Test func `floats beyond full scale pass unclipped with the filter off`() {
        let samples: [Float] = [1.5, -3, 1e30, -.infinity, 0.25, .leastNonzeroMagnitude]
        #expect(SignalPath(format: Sound.format(.float), design: .off(rateHz: 48000)).process(samples) == samples)
    }

    @Test(arguments: SampleFormat.allCases, channelCounts)
    func `what is stored is the cascade's output rounded to the nearest`(sampleFormat: SampleFormat, channels: Int)
        throws
    {
        let design = try lowPass(9000, highPassHz: 150, slope: 36)
        let format = Sound.format(sampleFormat, channels: channels)
        let scale: Double =
            switch sampleFormat {
            case .s16: 32768
            case .s24, .s24Packed: 8_388_608
            case .s32: 2_147_483_648
            case .float: 1
            }
        var exact = Noise.samples(700 * channels).map { sample in
            sampleFormat == .float ? Double(Float(sample)) : (sample * scale).rounded()
        }
        let input: [UInt8] =
            switch sampleFormat {
            case .s16: Sound.bytes(exact.map { Int16($0) })
            case .s24Packed: Sound.packed(exact.map { Int32($0) })
            case .s24, .s32: Sound.bytes(exact.map { Int32($0) })
            case .float: Sound.bytes(exact.map { Float($0) })
            }
        var cascade = Cascade(design, channels: channels)
        var span = exact.mutableSpan
        cascade.process(&span)
        let rounded = exact.map { $0.rounded(.toNearestOrEven) }
        let expected: [UInt8] =
            switch sampleFormat {
            case .s16: Sound.bytes(rounded.map { Int16($0) })
            case .s24Packed, .s24: Sound.packed(rounded.map { Int32($0) })
            case .s32: Sound.bytes(rounded.map { Int32($0) })
            case .float: Sound.bytes(exact.map { Float($0) })
            }
        #expect(SignalPath(format: format, design: design).process(input) == expected)
    }

    @Test(arguments: SampleFormat.allCases, [1, 2, 3, 9])
    func `how the sound is cut into blocks changes nothing`(sampleFormat: SampleFormat, channels: Int) throws {
        let format = Sound.format(sampleFormat, channels: channels)
        let frames = 6000
        var input = Noise.bytes(frames * format.bytesPerFrame)
        // Floats of ordinary size, including quiet and loud ones.
        if sampleFormat == .float { for index in stride(from: 3, to: input.count, by: 4) { input[index] = 0x3E } }
        let designs = [try lowPass(5000), .off(rateHz: 48000), try lowPass(9000, highPassHz: 80, slope: 48)]
        func run(cutting lengths: [Int]) -> (stored: [UInt8], peaks: [Int8], levels: [ChannelLevels]) {
            let path = SignalPath(format: format, design: designs[0])
            var stored: [UInt8] = []
            var peaks: [Int8] = []
            var done = 0
            var turn = 0
            while done < frames {
                // The changes happen at fixed frames, whatever the blocks are.
                if done == 100 { path.change(to: designs[1]) }
                if done == 1000 { path.change(to: designs[2]) }
                let next = [100, 1000, 5000, frames].first { $0 > done }!
                let count = min(lengths[turn % lengths.count], next - done)
                if done == 5000 {
                    stored += path.silence(frameCount: 10)
                }
                let first = done * format.bytesPerFrame
                stored += path.process(Array(input[first..<first + count * format.bytesPerFrame]))
                peaks += path.takePeaks()
                done += count
                turn += 1
            }
            return (stored, peaks + path.finishPeaks(), path.levels)
        }
        let whole = run(cutting: [frames])
        let pieces = run(cutting: [1, 7, 256, 300, 64, 1023, 2])
        #expect(pieces.stored == whole.stored)
        #expect(pieces.peaks == whole.peaks)
        #expect(pieces.levels == whole.levels)
        #expect(whole.peaks.count == (frames + 10 + 255) / 256 * 2 * channels)
    }

    @Test(arguments: [SampleFormat.s16, .s24, .float])
    func `a filter that was warmed up continues as if it had processed all`(sampleFormat: SampleFormat) throws {
        let format = Sound.format(sampleFormat, channels: 2)
        let design = try lowPass(9000, highPassHz: 80, slope: 48)
        var input = Noise.bytes(5000 * format.bytesPerFrame)
        if sampleFormat == .float { for index in stride(from: 3, to: input.count, by: 4) { input[index] = 0x3E } }
        // At a whole number of pixels, because both paths settle there.
        let cut = 12 * 256 * format.bytesPerFrame
        let whole = SignalPath(format: format, design: design)
        _ = whole.process(Array(input[..<cut]))
        let expected = whole.process(Array(input[cut...]))

        let path = SignalPath(format: format, design: design)
        input[..<cut].withUnsafeBytes { path.warmUp(on: $0) }
        #expect(path.takePeaks().isEmpty)
        #expect(path.levels.allSatisfy { $0 == SignalPath(format: format, design: design).levels[0] })
        #expect(path.process(Array(input[cut...])) == expected)
    }

    @Test func `a change that was begun before the warm-up ends in it`() throws {
        let input = Sound.bytes((0..<9600).map { Int16(truncatingIfNeeded: $0 &* 7919) })
        let format = Sound.format(.s16)
        let path = SignalPath(format: format, design: .off(rateHz: format.rateHz))
        path.change(to: try lowPass(3000, slope: 24))
        input.withUnsafeBytes { path.warmUp(on: $0) }
        #expect(!path.isChanging)
        let filtered = SignalPath(format: format, design: try lowPass(3000, slope: 24))
        input.withUnsafeBytes { filtered.warmUp(on: $0) }
        #expect(path.process(input) == filtered.process(input))
    }

    @Test(arguments: [SampleFormat.s16, .s24Packed, .s24, .s32])
    func `whole numbers saturate and never wrap`(sampleFormat: SampleFormat) throws {
        let full: Int32 =
            switch sampleFormat {
            case .s16: 32767
            case .s24, .s24Packed: 8_388_607
            case .s32, .float: .max
            }
        // The low-pass overshoots at each edge of a square wave.
        let square = (0..<2000).map { $0 / 100 % 2 == 0 ? full : -full - 1 }
        let input: [UInt8] =
            switch sampleFormat {
            case .s16: Sound.bytes(square.map { Int16($0) })
            case .s24Packed: Sound.packed(square)
            default: Sound.bytes(square)
            }
        let design = try lowPass(3000, slope: 48)
        let path = SignalPath(format: Sound.format(sampleFormat), design: design)
        let stored = path.process(input)

        var exact = square.map { Double($0) }
        var cascade = Cascade(design, channels: 1)
        var span = exact.mutableSpan
        cascade.process(&span)
        let rounded = exact.map { $0.rounded(.toNearestOrEven) }
        let saturated = rounded.map { max(-Double(full) - 1, min(Double(full), $0)) }
        let expected: [UInt8] =
            switch sampleFormat {
            case .s16: Sound.bytes(saturated.map { Int16($0) })
            case .s24Packed, .s24: Sound.packed(saturated.map { Int32($0) })
            default: Sound.bytes(saturated.map { Int32($0) })
            }
        #expect(stored == expected)
        let beyond = zip(rounded, saturated).filter { $0 != $1 }.count
        #expect(beyond > 100)
        #expect(path.levels[0].filterClippedFrames == Int64(beyond))
        #expect(path.levels[0].clippedFrames == 2000)
    }

    @Test func `float is stored as it comes out, and counted only where the converter was not at its limit`() throws {
        let design = try lowPass(3000, slope: 48)
        let path = SignalPath(format: Sound.format(.float), design: design)
        let square = (0..<2000).map { Float($0 / 100 % 2 == 0 ? 0.99 : -0.99) }
        let stored = path.process(square)
        let beyond = stored.filter { abs($0) > 1 }.count
        #expect(beyond > 100)
        #expect(stored.allSatisfy { abs($0) < 1.5 })
        #expect(path.levels[0].filterClippedFrames == Int64(beyond))
        #expect(path.levels[0].clippedFrames == 0)

        let clipped = SignalPath(format: Sound.format(.float), design: design)
        #expect(clipped.process(square.map { $0 * 2 }).contains { abs($0) > 1 })
        #expect(clipped.levels[0].clippedFrames == 2000)
        #expect(clipped.levels[0].filterClippedFrames == 0)
    }

    @Test func `what is not a number does not stay in the filter`() throws {
        let path = SignalPath(format: Sound.format(.float), design: try lowPass(3000, highPassHz: 100))
        let reference = SignalPath(format: Sound.format(.float), design: try lowPass(3000, highPassHz: 100))
        let stored = path.process([0.5, .nan, .infinity, -.infinity, .greatestFiniteMagnitude, 0.25, 0.125])
        #expect(stored == reference.process([0.5, 0, 0, 0, 0, 0.25, 0.125]))
    }

    @Test func `silence rings the filter out and holds the timeline`() throws {
        let design = try lowPass(1000)
        let sound = Noise.samples(500).map { Int16($0 * 20000) }
        let path = SignalPath(format: Sound.format(.s16), design: design)
        let stored = path.process(Sound.bytes(sound)) + path.silence(frameCount: 300) + path.process(Sound.bytes(sound))
        let reference = SignalPath(format: Sound.format(.s16), design: design)
        #expect(stored == reference.process(Sound.bytes(sound + [Int16](repeating: 0, count: 300) + sound)))
        #expect(path.levels == reference.levels)
        #expect(path.finishPeaks() == reference.finishPeaks())
    }

    @Test(arguments: SampleFormat.allCases)
    func `silence with the filter off is all zeros`(sampleFormat: SampleFormat) {
        let format = Sound.format(sampleFormat, channels: 2)
        let path = SignalPath(format: format, design: .off(rateHz: 48000))
        #expect(path.silence(frameCount: 777) == [UInt8](repeating: 0, count: 777 * format.stored.bytesPerFrame))
    }

    @Test func `nothing in, nothing out`() throws {
        let path = SignalPath(format: Sound.format(.s16, channels: 2), design: try lowPass(1000))
        #expect(path.process([UInt8]()).isEmpty)
        #expect(path.process([1, 2, 3] as [UInt8]).isEmpty)
        #expect(path.silence(frameCount: 0).isEmpty)
        #expect(path.finishPeaks().isEmpty)
        #expect(path.levels == [ChannelLevels(), ChannelLevels()])
    }
}
