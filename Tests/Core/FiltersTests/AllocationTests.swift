import CAllocationCount
import Filters
import SeededRandom
import Takes
import Testing

@Suite struct AllocationTests {
    @Test(.enabled(if: allocations_are_counted()))
    func `the count sees an allocation`() {
        let before = allocation_count_of_this_thread()
        let array = [Int](repeating: Int(before), count: 1000)
        #expect(allocation_count_of_this_thread() > before, "\(array.count)")
    }

    private static let layouts: [(SampleFormat, Int?)] = SampleFormat.allCases.map { ($0, nil) } + [(.s32, 24)]

    @Test(.enabled(if: allocations_are_counted()), arguments: layouts, [1, 2, 5, full(32, usually: 8)])
    func `nothing is allocated while sound passes`(layout: (SampleFormat, Int?), channels: Int) throws {
        let format = Sound.format(layout.0, channels: channels, bits: layout.1)
        let input = Noise.bytes(960 * format.bytesPerFrame)
        var output = [UInt8](repeating: 0, count: 960 * format.stored.bytesPerFrame)
        let designs = [
            try FilterDesign(lowPassHz: 9000, highPassHz: 80, slopeDBPerOctave: 48, rateHz: 48000),
            FilterDesign.off(rateHz: 48000),
            try FilterDesign(lowPassHz: 5000, highPassHz: nil, slopeDBPerOctave: 24, rateHz: 48000),
        ]
        let path = SignalPath(format: format, design: designs[0])
        var allocations: UInt64 = 0
        input.withUnsafeBytes { source in
            output.withUnsafeMutableBytes { target in
                for design in designs {
                    path.change(to: design)
                    // The change begins and ends, and the new filter runs alone. Another change is requested during it.
                    let before = allocation_count_of_this_thread()
                    for _ in 0..<5 { _ = path.process(source, into: target) }
                    _ = path.process(source, using: target)
                    _ = path.silence(frameCount: 960, into: target)
                    allocations += allocation_count_of_this_thread() - before
                }
            }
        }
        #expect(allocations == 0)
    }
}
