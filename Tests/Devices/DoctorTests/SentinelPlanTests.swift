import Files
import Testing

@testable import Doctor

@Suite struct SentinelPlanTests {
    private let mebibyte: Int64 = 1 << 20

    /// A file after 40 MiB of used space, with a hole in the middle, on a disk of `size` MiB.
    private func plan(_ size: Int64, start: Int64 = 0) -> (SentinelPlan, FileLayout) {
        let half = size / 2
        let layout = FileLayout([
            FileExtent(offset: 0, place: 40 * mebibyte, byteCount: (half - 40) * mebibyte),
            FileExtent(
                offset: (half - 40) * mebibyte, place: (half + 4) * mebibyte, byteCount: (half - 8) * mebibyte),
        ])
        let device = BackingDevice(
            start: start, byteCount: size * mebibyte, diskByteCount: size * mebibyte + start)
        return (SentinelPlan(layout, byteCount: (size - 48) * mebibyte, device: device), layout)
    }

    @Test func `likely periods are parts of the disk and powers of two, the shortest first`() {
        let periods = SentinelPlan.periods([400 * mebibyte, 0])
        #expect(periods.map { $0 / mebibyte } == [16, 25, 32, 50, 64, 100, 128, 200, 256])
        #expect(SentinelPlan.periods([30 * mebibyte]).map { $0 / mebibyte } == [16])
    }

    @Test
    func `the two of a pair lie a period apart, in the file, and so does what a longer period makes of the upper one`()
    {
        let (plan, layout) = plan(400)
        // With 40 MiB in use, a pair for a shorter period would not be safe with all longer periods.
        #expect(plan.pairs.map { $0.period / mebibyte } == [100, 128, 200, 256])
        for pair in plan.pairs {
            let (low, high) = (layout.place(ofOffset: pair.low), layout.place(ofOffset: pair.high))
            guard let low, let high else {
                Issue.record("\(pair) is outside")
                continue
            }
            #expect(high - low == pair.period && low < pair.period)
            for longer in plan.pairs.map(\.period) where longer > pair.period && longer <= high {
                #expect(layout.offset(ofPlace: high - longer) != nil, "\(pair), \(longer)")
            }
        }
    }

    @Test func `the grid has no place twice, lies regularly, and reaches the end`() {
        for size in [100, 400, 4096, 30000, 60000, 240_000] as [Int64] {
            let (plan, layout) = plan(size)
            let offsets = plan.grid.flatMap(\.self)
            #expect(Set(offsets).count == offsets.count && offsets.count <= 4096)
            #expect((plan.grid.first?.count ?? 0) <= 256)
            let places = offsets.compactMap { layout.place(ofOffset: $0) }.sorted()
            #expect(places.allSatisfy { $0 % plan.step == plan.step / 2 } && plan.step >= mebibyte)
            #expect(size * mebibyte - (places.last ?? 0) <= plan.step + 8 * mebibyte, "\(size)")
            #expect(plan.runByteCount == min(2 * plan.step, 64 * mebibyte))
        }
    }

    @Test func `a partition's pairs count from the beginning of its disk`() {
        let (plan, layout) = plan(400, start: 60 * mebibyte)
        for pair in plan.pairs {
            #expect((layout.place(ofOffset: pair.low) ?? 0) + 60 * mebibyte < pair.period)
        }
        #expect(plan.pairs.map { $0.period / mebibyte }.contains(128))
    }
}
