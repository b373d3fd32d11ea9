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
        let cascade = Cascade(design, channels: channels)
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
