import CReferenceFilter
import Filters
import Glibc
import Takes

/// Processor time of this thread in seconds.
func cpuSeconds() -> Double {
    var time = timespec()
    unsafe clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
    return Double(time.tv_sec) + Double(time.tv_nsec) * 1e-9
}

/// Noise, always the same.
func noise(_ count: Int) -> [Double] {
    var seed: UInt64 = 1
    return (0..<count).map { _ in
        seed = seed &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        return Double(Int64(bitPattern: seed) >> 40) / 8_388_608 * 0.5
    }
}

let blockFrames = 4096
for channels in [1, 2, 3, 4, 8] {
    for order in [2, 4, 6, 8] {
        let design = try FilterDesign(
            lowPassHz: 12000, highPassHz: nil, slopeDBPerOctave: order * 6, rateHz: 48000)
        let sections = design.filters.flatMap(\.sections)
        let peers = sections.map { reference_section(b0: $0.b0, b1: $0.b1, b2: $0.b2, a1: $0.a1, a2: $0.a2) }
        var state = [Double](repeating: 0, count: 2 * sections.count * channels)
        var cascade = Cascade(design, channels: channels)
        let input = noise(blockFrames * channels)
        var swiftBest = Double.infinity
        var cBest = Double.infinity
        let blocks = 4_000_000 / (blockFrames * channels)
        for _ in 0..<7 {
            var buffer = input
            var start = cpuSeconds()
            for _ in 0..<blocks {
                var span = buffer.mutableSpan
                cascade.process(&span)
            }
            swiftBest = min(swiftBest, cpuSeconds() - start)
            buffer = input
            start = cpuSeconds()
            for _ in 0..<blocks {
                unsafe reference_filter(
                    peers, Int32(sections.count), &state, Int32(channels), &buffer, blockFrames)
            }
            cBest = min(cBest, cpuSeconds() - start)
        }
        let samples = Double(blocks * blockFrames * channels) / 1e6
        let ratio = (cBest / swiftBest * 100).rounded() / 100
        print(channels, order, Int(samples / swiftBest), Int(samples / cBest), ratio)
    }
}
for (sampleFormat, channels) in [(SampleFormat.s16, 2), (.s16, 1), (.s24Packed, 2), (.s24, 2), (.s32, 2), (.float, 2), (.s16, 8)] {
    for order in [0, 4] {
        let format = StreamFormat(rateHz: 48000, channels: channels, sampleFormat: sampleFormat)
        let design = order == 0 ? .off(rateHz: 48000) : try FilterDesign(
            lowPassHz: 21600, highPassHz: nil, slopeDBPerOctave: 24, rateHz: 48000)
        let path = SignalPath(format: format, design: design)
        var seed: UInt64 = 1
        let input = (0..<4800 * format.bytesPerFrame).map { (index: Int) -> UInt8 in
            seed = seed &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            if sampleFormat == .float { return index % 4 == 3 ? 0x3E : UInt8(truncatingIfNeeded: seed >> 40) }
            return UInt8(truncatingIfNeeded: seed >> 40) & ((index % sampleFormat.bytesPerSample == sampleFormat.bytesPerSample - 1) ? 0x1f : 0xff)
        }
        var output = [UInt8](repeating: 0, count: 4800 * format.stored.bytesPerFrame)
        var best = Double.infinity
        for _ in 0..<5 {
            let start = cpuSeconds()
            for _ in 0..<6000 * 2 / channels {
                unsafe input.withUnsafeBytes { from in unsafe output.withUnsafeMutableBytes { to in _ = unsafe path.process(from, into: to) } }
                _ = path.takePeaks()
            }
            best = min(best, cpuSeconds() - start)
        }
        print(sampleFormat.rawValue, channels, order, (best * 1000).rounded(), "ms", path.levels[0])
    }
}
