import CAllocationCount
import SeededRandom
import Takes
import Testing

@testable import SoundCard

struct ChannelPickTests {
    @Test(arguments: SampleFormat.allCases)
    func `the channels that are kept are those of the card, bit for bit`(_ format: SampleFormat) {
        var random = SeededRandom(seed: 33)
        for (kept, channels) in [([2], 2), ([1, 3], 4), ([3, 1], 3), ([1], 1), ([8, 2, 5], 8), ([64], 64)] {
            let size = format.bytesPerSample
            let frames: [[[UInt8]]] = (0..<97).map { _ in
                (0..<channels).map { _ in (0..<size).map { _ in .random(in: 0...255, using: &random) } }
            }
            let pick = ChannelPick(ChannelLayout(keeping: kept, of: channels), format)
            #expect(pick.cardBytesPerFrame == channels * size)
            // One more byte on both sides makes everything unaligned, and shows whether anything else is written.
            let card: [UInt8] = [7] + Array(frames.joined().joined())
            var ring = [UInt8](repeating: 7, count: frames.count * kept.count * size + 2)
            let count = card.withUnsafeBytes { card in
                ring.withUnsafeMutableBytes { ring in
                    let before = allocation_count_of_this_thread()
                    pick.copy(card.baseAddress! + 1, count: frames.count, to: ring.baseAddress! + 1)
                    return allocation_count_of_this_thread() - before
                }
            }
            #expect(count == 0)
            let wanted: [UInt8] = frames.flatMap { frame in kept.flatMap { frame[$0 - 1] } }
            #expect(Array(ring.dropFirst().dropLast()) == wanted)
            #expect([ring.first, ring.last] == [7, 7])
        }
    }
}
