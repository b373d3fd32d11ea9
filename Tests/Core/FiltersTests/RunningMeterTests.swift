import Filters
import Takes
import Testing

@Suite struct RunningMeterTests {
    private func feed(_ meter: RunningMeter, _ bytes: [UInt8], lengths: [Int] = [.max]) {
        let size = meter.format.bytesPerFrame
        let frames = bytes.count / size
        var done = 0
        var turn = 0
        while done < frames {
            let count = min(lengths[turn % lengths.count], frames - done)
            bytes[done * size..<(done + count) * size].withUnsafeBytes { meter.take($0) }
            done += count
            turn += 1
        }
    }

    @Test(arguments: SampleFormat.allCases, [1, 2, 3, 5, 8, 9])
    func `the levels are those of the last whole block of 100 ms`(sampleFormat: SampleFormat, channels: Int) {
        let format = Sound.format(sampleFormat, channels: channels, rateHz: 8000)
        var bytes = Noise.bytes(2000 * format.bytesPerFrame)
        if sampleFormat == .float { for index in stride(from: 3, to: bytes.count, by: 4) { bytes[index] = 0x3E } }
        let meter = RunningMeter(format)
        #expect(meter.levels == Array(repeating: ChannelLevels(), count: channels))
        feed(meter, bytes)
        let block = Array(bytes[800 * format.bytesPerFrame..<1600 * format.bytesPerFrame])
        for (found, expected) in zip(meter.levels, Sound.levels(block, format)) {
            #expect(found.peak == expected.peak)
            #expect(abs(found.meanSquare - expected.meanSquare) < 1e-12)
            #expect(found.clippedFrames == expected.clippedFrames)
        }
    }

    @Test(arguments: SampleFormat.allCases)
    func `how the sound is cut into batches changes nothing`(sampleFormat: SampleFormat) {
        let format = Sound.format(sampleFormat, channels: 3, rateHz: 8000)
        var bytes = Noise.bytes(5000 * format.bytesPerFrame)
        if sampleFormat == .float { for index in stride(from: 3, to: bytes.count, by: 4) { bytes[index] = 0x3E } }
        let (whole, pieces) = (RunningMeter(format), RunningMeter(format))
        feed(whole, bytes)
        feed(pieces, bytes, lengths: [1, 799, 800, 3, 256, 2000, 0])
        #expect(pieces.levels == whole.levels)
        #expect(pieces.drain() == whole.drain())
        #expect(pieces.finish() == whole.finish())
    }

    @Test func `drained are the blocks since the last time, and what is not a block yet at the end`() {
        let meter = RunningMeter(Sound.format(.s16, rateHz: 8000))
        feed(meter, Sound.bytes([Int16](repeating: 16384, count: 799)))
        #expect(meter.drain() == [ChannelSignal()])
        feed(meter, Sound.bytes([Int16](repeating: 16384, count: 802)))
        #expect(meter.drain() == [ChannelSignal(frames: 1600, least: 0.5, greatest: 0.5, offset: 0.5)])
        #expect(meter.drain() == [ChannelSignal()])
        feed(meter, Sound.bytes([32767, -32768] as [Int16]))
        let rest = meter.finish()[0]
        #expect(rest.frames == 3)
        #expect(rest.clippedFrames == 2)
        #expect(rest.peak == 1)
        #expect(meter.finish() == [ChannelSignal()])
    }

    @Test func `half seconds are whole, whatever the batches are, and begin anew when they are dropped`() {
        let meter = RunningMeter(Sound.format(.s16, rateHz: 8000))
        let loud = (0..<20000).map { Int16($0 % 2 == 0 ? 16384 : -16384) }
        feed(meter, Sound.bytes(Array(loud[..<9000])), lengths: [1, 799, 3, 2000])
        func half(_ frames: Int64) -> [ChannelSignal] {
            [ChannelSignal(frames: frames, least: -0.5, greatest: 0.5, alternatingSquare: 0.25)]
        }
        _ = meter.drain()
        #expect(meter.drainHalves() == [half(4000), half(4000)])
        #expect(meter.drainHalves() == [])
        feed(meter, Sound.bytes(Array(loud[..<3000])))
        #expect(meter.drainHalves() == [half(4000)])
        feed(meter, Sound.bytes(Array(loud[..<3200])))
        meter.dropHalves()
        feed(meter, Sound.bytes(Array(loud[..<3200])))
        #expect(meter.drainHalves() == [])
        feed(meter, Sound.bytes(Array(loud[..<800])))
        #expect(meter.drainHalves() == [half(4000)])
        // 100 s without a drain.
        for _ in 0..<40 { feed(meter, Sound.bytes(loud)) }
        #expect(meter.drainHalves().count == 60)
    }

    @Test func `a half second has nothing of what came before the halves were dropped`() {
        let meter = RunningMeter(Sound.format(.s16, rateHz: 8000))
        feed(meter, Sound.bytes([Int16](repeating: 32767, count: 4799)))
        _ = meter.drain()
        meter.dropHalves()
        feed(meter, Sound.bytes([Int16](repeating: 0, count: 4000)))
        #expect(meter.drainHalves() == [[ChannelSignal(frames: 4000)]])
        #expect(meter.drain() == [ChannelSignal(frames: 4000)])
    }

    @Test func `an offset and its drift are no part of the alternating signal`() {
        // Half of full scale, drifting by a hundredth a second, and a square wave of a thousandth on the right channel.
        let frames = (0..<16000).flatMap { frame in
            let offset = 0.5 + 0.01 * Double(frame) / 8000
            return [offset, offset + (frame % 2 == 0 ? 0.001 : -0.001)].map { Int32($0 * 2_147_483_648) }
        }
        let meter = RunningMeter(Sound.format(.s32, channels: 2, rateHz: 8000))
        feed(meter, Sound.bytes(frames))
        let signals = meter.drain()
        #expect(signals.allSatisfy { abs($0.offset - 0.51) < 1e-3 })
        #expect(signals[0].alternatingRMS < 3e-4)
        #expect(abs(signals[1].alternatingRMS - 0.001) < 1e-4)
        #expect(abs(meter.levels[0].rmsDBFS! + 5.7) < 0.1)
    }

    @Test(arguments: SampleFormat.allCases)
    func `a constant has no alternating signal that anything could be made of`(sampleFormat: SampleFormat) {
        let format = Sound.format(sampleFormat, rateHz: 48000)
        for part in [-1.0, -0.999_999, 0.1, 0.7, 0.999_999] {
            var bytes = [UInt8](repeating: 0, count: 48000 * format.bytesPerFrame)
            let samples = [Double](repeating: part, count: 48000)
            bytes.withUnsafeMutableBytes { SampleEncoder(sampleFormat).encode(samples.span, into: $0) }
            let meter = RunningMeter(format)
            feed(meter, bytes)
            #expect(meter.drain()[0].alternatingRMS < 1e-6)
        }
    }
}

@Suite struct ChannelSignalTests {
    private func signal(_ samples: [Double], _ format: StreamFormat) -> ChannelSignal {
        var bytes = [UInt8](repeating: 0, count: samples.count * format.bytesPerFrame)
        bytes.withUnsafeMutableBytes {
            SampleEncoder(format.sampleFormat, significantBits: format.significantBits).encode(samples.span, into: $0)
        }
        let meter = RunningMeter(format)
        bytes.withUnsafeBytes { meter.take($0) }
        return meter.finish()[0]
    }

    @Test(
        arguments: [
            (SampleFormat.s16, nil), (.s24Packed, nil), (.s24, 20), (.s32, 18), (.s32, 24), (.s32, nil), (.float, nil),
        ] as [(SampleFormat, Int?)])
    func `an offset without a signal is dead, though its last bit alternates`(sampleFormat: SampleFormat, bits: Int?) {
        let format = Sound.format(sampleFormat, bits: bits)
        let step = 1 / Double(Int64(1) << (min(24, format.significantBits) - 1))
        for offset in [0, 0.02, -0.5] {
            // From an alternation at every frame to a rare one.
            for period in [1, 2, 7, 1000] {
                let samples = (0..<48000).map { offset + ($0 / period % 2 == 0 ? step : 0) }
                #expect(signal(samples, format).isDead(in: format), "\(offset), \(period)")
            }
        }
    }

    @Test(arguments: SampleFormat.allCases)
    func `a signal of -90 dBFS is alive in every format, whatever offset is below it`(sampleFormat: SampleFormat) {
        let format = Sound.format(sampleFormat)
        for offset in [0, 0.3] {
            let samples = Sound.sine(440, amplitude: 4.5e-5, frameCount: 48000).map { $0 + offset }
            #expect(!signal(samples, format).isDead(in: format))
        }
    }

    @Test(arguments: [(SampleFormat.s24, nil), (.s32, 20), (.s32, nil), (.float, nil)] as [(SampleFormat, Int?)])
    func `noise of an open converter is dead, and a quiet microphone is not`(sampleFormat: SampleFormat, bits: Int?) {
        let format = Sound.format(sampleFormat, bits: bits)
        func noise(dBFS: Double) -> [Double] {
            // The mean square of uniform noise between −0.5 and 0.5 is 1/12.
            var scale = 3.4641016
            for _ in 0..<Int(-dBFS) { scale *= 0.8912509 }
            return Noise.samples(48000).map { $0 * scale }
        }
        #expect(signal(noise(dBFS: -110), format).isDead(in: format))
        #expect(!signal(noise(dBFS: -100), format).isDead(in: format))
    }

    @Test func `stretches add up to the whole`() {
        var sum = ChannelSignal()
        sum.add(ChannelSignal(frames: 100, least: -0.5, greatest: 0.25, offset: 0.1, alternatingSquare: 0.04))
        sum.add(ChannelSignal())
        sum.add(
            ChannelSignal(
                frames: 300, least: -0.1, greatest: 0.75, offset: 0.5, alternatingSquare: 0.08, clippedFrames: 7))
        #expect(sum.frames == 400 && sum.least == -0.5 && sum.greatest == 0.75 && sum.peak == 0.75)
        #expect(abs(sum.offset - 0.4) < 1e-12)
        #expect(abs(sum.alternatingSquare - 0.07) < 1e-12)
        #expect(sum.clippedFrames == 7)
    }
}
