import DiskCalls
import Exports
import Foundation
import SeededRandom
import TakeFiles
import Takes
import Testing

@Suite(.waitsOnNamedThreads) struct WaveformPyramidTests {
    private func pairs(_ bytes: [UInt8]) -> [Int8] { bytes.dropFirst(24).map { Int8(bitPattern: $0) } }

    private func number(_ bytes: [UInt8], _ place: Int) -> Int {
        (0..<4).reduce(0) { $0 | Int(bytes[place + $1]) << (8 * $1) }
    }

    @Test(arguments: [SampleFormat.s16, .s24Packed, .s32])
    func `fine pixels are those of the samples, at any zoom and place`(_ format: SampleFormat) throws {
        let take = try MadeTake(format, parts: [(0, 9000), (11_000, 9000)])
        let pyramid = try WaveformPyramid(in: "\(take.folder)/levels")
        var random = SeededRandom(seed: 3)
        for _ in 0..<40 {
            let from = Int64.random(in: 0..<take.end, using: &random)
            let to = Int64.random(in: (from + 1)...take.end, using: &random)
            let zoom = Int64.random(in: max(1, (to - from) / 19_000)...255, using: &random)
            let found = try pyramid.waveform(of: take.sidecar, in: take.folder, framesPerPixel: zoom, range: from..<to)
            #expect(pairs(found) == take.naive(framesPerPixel: zoom, from..<to))
            #expect(
                [0, 4, 8, 12, 16, 20].map { number(found, $0) } == [
                    2, 1, 48_000, Int(zoom), Int((to - from + zoom - 1) / zoom), 2,
                ])
        }
    }

    @Test func `coarse pixels are exact where they fall on a level's`() throws {
        let take = try MadeTake(.s16, parts: [(0, 1_000_000)], seed: 5)
        let pyramid = try WaveformPyramid(in: "\(take.folder)/levels")
        for zoom in [256, 512, 1024, 4096, 5120, 65_536, 262_144] as [Int64] {
            for from in [0, 1 << 18] as [Int64] {
                let found = try pyramid.waveform(
                    of: take.sidecar, in: take.folder, framesPerPixel: zoom, range: from..<1_000_000)
                #expect(pairs(found) == take.naive(framesPerPixel: zoom, from..<1_000_000), "\(zoom) from \(from)")
            }
        }
    }

    @Test func `at other zooms no peak is missed`() throws {
        let take = try MadeTake(.s16, parts: [(0, 300_000)], seed: 6)
        let pyramid = try WaveformPyramid(in: "\(take.folder)/levels")
        for zoom in [300, 1000, 2777, 10_001] as [Int64] {
            let found = pairs(
                try pyramid.waveform(of: take.sidecar, in: take.folder, framesPerPixel: zoom, range: 77..<300_000))
            let wanted = take.naive(framesPerPixel: zoom, 77..<300_000)
            #expect(found.count == wanted.count)
            for index in stride(from: 0, to: found.count, by: 2) {
                #expect(found[index] <= wanted[index] && found[index + 1] >= wanted[index + 1])
            }
        }
    }

    @Test func `levels that were damaged, or are of another waveform, are made again`() throws {
        let take = try MadeTake(parts: [(0, 500_000)])
        let levels = "\(take.folder)/levels"
        let pyramid = try WaveformPyramid(in: levels)
        let ask = { try pyramid.waveform(of: take.sidecar, in: take.folder, framesPerPixel: 4096, range: 0..<500_000) }
        let first = try ask()
        let file = "\(levels)/heron07-0007_20261121_061811.levels"
        let whole = try Data(contentsOf: URL(filePath: file))
        for damage in [Data(), whole.prefix(100), Data(count: whole.count), whole + Data(count: 1)] {
            try damage.write(to: URL(filePath: file))
            #expect(try ask() == first)
        }
        let peaks = "\(take.folder)/heron07-0007_20261121_061811.dat"
        var other = try Data(contentsOf: URL(filePath: peaks))
        other.replaceSubrange(24..., with: Data(repeating: 5, count: other.count - 24))
        try other.write(to: URL(filePath: peaks))
        #expect(pairs(try ask()).allSatisfy { $0 == 5 })
    }

    @Test func `what is too much, or nothing, is refused, and without a waveform fine pixels alone are made`() throws {
        let take = try MadeTake(parts: [(0, 100_000)])
        let pyramid = try WaveformPyramid(in: "\(take.folder)/levels")
        func refusal(_ zoom: Int64, _ range: Range<Int64>) -> String? {
            do {
                _ = try pyramid.waveform(of: take.sidecar, in: take.folder, framesPerPixel: zoom, range: range)
                return nil
            } catch {
                return "\(error)"
            }
        }
        #expect(
            refusal(1, 0..<100_000)
                == "waveform: heron07-0007_20261121_061811: that makes 100000 pixels, at most 20000 are sent: ask for more frames a pixel"
        )
        #expect(refusal(0, 0..<100)?.hasPrefix("waveform: heron07-0007_20261121_061811 has frames 0 to 100000") == true)
        #expect(
            refusal(10, 100_000..<Int64.max)?.hasPrefix("waveform: heron07-0007_20261121_061811 has frames") == true)
        #expect(refusal(10, 0..<20_000) == nil)
        try FileManager.default.removeItem(atPath: "\(take.folder)/heron07-0007_20261121_061811.dat")
        #expect(refusal(10, 0..<20_000) == nil)
        #expect(refusal(256, 0..<20_000)?.hasSuffix("only fewer than 256 frames a pixel can be made") == true)
    }
}
