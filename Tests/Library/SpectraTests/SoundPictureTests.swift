import SeededRandom
import Testing

@testable import Spectra

@Suite struct SoundPictureTests {
    private func picture(
        _ samples: [Int16], lead: Int = 0, columns: Int, hop: Int, window: Int = 256, bins: Range<Int> = 0..<129
    ) throws -> SoundPicture {
        let numbers = samples.map { Float($0) / 32_768 }
        return try SoundPicture(
            of: numbers.span, rateHz: 48_000, lead: lead, columns: columns, hop: hop, window: window, bins: bins)
    }

    @Test(arguments: [(256, 40), (512, 256), (1024, 100)])
    func `a column is the window in the middle of its samples`(window: Int, hop: Int) throws {
        let samples = noise(3000, level: 0.4, seed: 7)
        let bins = 3..<window / 4
        let columns = (3000 - 130) / hop
        let found = try picture(samples, lead: 130, columns: columns, hop: hop, window: window, bins: bins)
        #expect(found.columns == columns && found.rows == bins.count && found.values.count == columns * bins.count)
        for column in [0, 1, 2, 3, columns / 2, columns - 1] {
            for bin in [3, 4, 20, window / 4 - 1] {
                let start = 130 + column * hop + hop / 2 - window / 2
                let power = Definition.power(numbers(samples), from: start, window: window, bin: bin)
                let value = Double(found.values[column * bins.count + bin - 3])
                #expect(abs(value - Definition.value(power)) < 0.55, "column \(column), bin \(bin)")
            }
        }
    }

    @Test func `with a hop longer than a window, no click is left out`() throws {
        var random = SeededRandom(seed: 1)
        for hop in [129, 700, 1000, 4800] {
            for _ in 0..<full(100, usually: 6) {
                var samples = [Int16](repeating: 0, count: 9600)
                let frame = random.below(9600)
                samples[frame] = 32_767
                let columns = 9600 / hop
                let found = try picture(samples, columns: columns, hop: hop)
                let place = min(columns - 1, frame / hop)
                guard frame < columns * hop else { continue }
                // In the middle of a window of 256 it has −36 dB, between two middles 6 dB less.
                let near = max(0, place - 1)...min(columns - 1, place + 1)
                let isEdge = frame % 9600 < 128 || frame >= columns * hop - 128
                let least: UInt8 = isEdge ? 140 : 157
                #expect(near.contains { found.values[$0 * 129 + 64] >= least }, "frame \(frame), hop \(hop)")
            }
        }
    }

    @Test func `columns of any widths are those of the same sound`() throws {
        let samples = noise(9600, level: 0.3, seed: 9).map { Float($0) / 32_768 }
        for (hop, window) in [(16, 256), (100, 512), (700, 256)] {
            let whole = try SoundPicture(
                of: samples.span, rateHz: 48_000, lead: 0, columns: 9600 / hop, hop: hop, window: window, bins: 0..<129)
            let edges = (0...9600 / hop).map { $0 * hop }
            let same = try SoundPicture(
                of: samples.span, rateHz: 48_000, edges: edges, window: window, bins: 0..<129)
            #expect(same == whole)
        }
        // The first column is half as wide as the second, and each shows the window of its own middle.
        let two = try SoundPicture(
            of: samples.span, rateHz: 48_000, edges: [400, 440, 520], window: 256, bins: 0..<129)
        for (column, middle) in [420, 480].enumerated() {
            let one = try SoundPicture(
                of: samples.span, rateHz: 48_000, edges: [middle, middle + 1], window: 256, bins: 0..<129)
            #expect(Array(two.values[column * 129..<column * 129 + 129]) == one.values)
        }
        // Zoomed in beyond a sample.
        let close = try SoundPicture(
            of: samples.span, rateHz: 48_000, edges: [700, 700, 700, 701], window: 256, bins: 0..<129)
        let one = try SoundPicture(of: samples.span, rateHz: 48_000, edges: [700, 701], window: 256, bins: 0..<129)
        #expect(close.values == one.values + one.values + one.values)
        for edges in [[-1, 5], [5, 4], [0, 9601], [9601], [0, .max], [.min, 3], [3, 2, 9]] {
            #expect(throws: SpectraError.self) {
                _ = try SoundPicture(of: samples.span, rateHz: 48_000, edges: edges, window: 256, bins: 0..<129)
            }
        }
        let none = try SoundPicture(of: samples.span, rateHz: 48_000, edges: [], window: 256, bins: 0..<9)
        #expect(none.columns == 0 && none.values == [])
    }

    @Test func `outside the sound is silence`() throws {
        let found = try picture([Int16](repeating: 0, count: 100), columns: 10, hop: 10, window: 8192, bins: 0..<4097)
        #expect(found.values == [UInt8](repeating: 0, count: 10 * 4097))
        #expect(try picture([], columns: 0, hop: 1).values == [])
    }

    @Test func `numbers out of range are refused`() {
        let samples = [Int16](repeating: 0, count: 10_000)
        let refused: [(lead: Int, columns: Int, hop: Int, window: Int, bins: Range<Int>)] = [
            (0, 10, 100, 255, 0..<10), (0, 10, 100, 128, 0..<10), (0, 10, 100, 16_384, 0..<10),
            (0, 10, 100, -256, 0..<10), (0, 10, 100, 256, 0..<130), (0, 10, 100, 256, -1..<10),
            (0, 10, 100, 256, 5..<5), (0, 10, 0, 256, 0..<10), (0, 10, -1, 256, 0..<10),
            (0, 101, 100, 256, 0..<10), (0, -1, 100, 256, 0..<10), (-1, 10, 100, 256, 0..<10),
            (10_001, 1, 100, 256, 0..<10), (9900, 2, 100, 256, 0..<10), (0, .max, 1, 256, 0..<10),
            (.max, 1, .max, 256, 0..<10), (0, 1, .max, 256, 0..<10), (0, 1, 1, .max, 0..<10),
            (0, 1, 1, 256, 0 ..< .max), (0, 10_000, 1, 8192, 0..<4097),
        ]
        for (lead, columns, hop, window, bins) in refused {
            #expect(throws: SpectraError.self) {
                _ = try picture(samples, lead: lead, columns: columns, hop: hop, window: window, bins: bins)
            }
        }
        let minute = [Float](repeating: 0, count: 60_001)
        #expect(throws: SpectraError.self) {
            _ = try SoundPicture(
                of: minute.span, rateHz: 1000, lead: 0, columns: 1, hop: 1, window: 256, bins: 0..<1)
        }
    }
}
