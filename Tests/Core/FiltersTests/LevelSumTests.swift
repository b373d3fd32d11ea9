import Filters
import Takes
import Testing

struct LevelSumTests {
    @Test func `stretches of sound measure as the whole does`() throws {
        let format = StreamFormat(rateHz: 48_000, channels: 2, sampleFormat: .s16)
        let bytes = (0..<40_000).map { UInt8(truncatingIfNeeded: $0 &* $0 &* 31 >> 5) }
        let whole = Sound.levels(bytes, format)
        var sum = LevelSum()
        for range in [0..<4000, 4000..<4000, 4000..<24_000, 24_000..<40_000] {
            let part = Sound.levels(Array(bytes[range]), format)
            sum.add(part, frames: Int64(range.count / format.bytesPerFrame))
        }
        #expect(sum.frames == 10_000)
        for (found, expected) in zip(sum.levels, whole) {
            #expect(found.peak == expected.peak)
            #expect(abs(found.meanSquare - expected.meanSquare) < 1e-12)
            #expect(found.clippedFrames == expected.clippedFrames)
        }
    }

    @Test func `one stretch is reported as it is, and nothing before it counts`() {
        let level = ChannelLevels(peak: 0.1, meanSquare: 0.003, clippedFrames: 2, filterClippedFrames: 1)
        var sum = LevelSum()
        sum.add([ChannelLevels()], frames: 0)
        sum.add([level], frames: 3)
        #expect(sum.levels == [level])
    }
}
