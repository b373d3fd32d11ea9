import CAllocationCount
import SeededRandom
import Takes
import Testing

@testable import Spectra

/// All columns of a sound.
func columns(_ bytes: [UInt8], _ sound: StreamFormat, columnsPerSecond: Int = 10) throws -> [UInt8] {
    var maker = try ColumnMaker(sound, columnsPerSecond: columnsPerSecond)
    var columns: [UInt8] = []
    maker.append(bytes.span.bytes, to: &columns)
    maker.finish(to: &columns)
    return columns
}

/// The columns of one channel.
func values(of channel: Int, in columns: [UInt8], channels: Int) -> [UInt8] {
    var values: [UInt8] = []
    for start in stride(from: 256 * channel, to: columns.count, by: 256 * channels) {
        values += columns[start..<start + 256]
    }
    return values
}

@Suite struct ColumnMakerTests {
    private func sound(_ rateHz: Int, _ channels: Int = 1) -> StreamFormat {
        StreamFormat(rateHz: rateHz, channels: channels, sampleFormat: .s16)
    }

    /// The columns as they are defined, not rounded.
    private func defined(_ samples: [Double], _ format: ColumnFormat) -> [Double] {
        let count = Int(format.columnCount(frames: Int64(samples.count)))
        var powers = [Double](repeating: 0, count: count * 256)
        let (window, hop) = (format.window, format.hop)
        for middle in stride(from: 0, to: samples.count + hop, by: hop) {
            let column = min(count - 1, middle * format.columnsPerSecond / format.rateHz)
            for bin in 0...window / 2 {
                let place = column * 256 + min(255, bin * 512 / window)
                let power = Definition.power(samples, from: middle - window / 2, window: window, bin: bin)
                powers[place] = max(powers[place], power)
            }
        }
        return powers.map(Definition.value)
    }

    // Rates with hops that fit into a column whole and not, fewer than four windows a column, and columns that end
    // within a hop.
    @Test(arguments: [(1000, 1003), (8000, 3000), (11_025, 2222), (5120, 4096)])
    func `columns are the greatest power of the windows in their time`(rateHz: Int, frames: Int) throws {
        let samples = noise(frames, level: 0.3, seed: UInt64(rateHz))
        let found = try columns(bytes(samples), sound(rateHz))
        let wanted = defined(numbers(samples), try ColumnFormat(rateHz: rateHz, channels: 1))
        #expect(found.count == wanted.count)
        let worst = zip(found, wanted).map { abs(Double($0) - $1) }.max() ?? 99
        #expect(worst < 0.55)
    }

    @Test func `each channel has the columns that it has alone`() throws {
        let channels = (0..<3).map { noise(9000, level: 0.2, seed: UInt64($0)) }
        let together = (0..<9000).flatMap { frame in channels.map { $0[frame] } }
        let found = try columns(bytes(together), sound(16_000, 3))
        for channel in 0..<3 {
            let alone = try columns(bytes(channels[channel]), sound(16_000))
            #expect(values(of: channel, in: found, channels: 3) == alone)
        }
    }

    @Test func `the columns do not depend on how the bytes are divided`() throws {
        let input = bytes(noise(2 * 20_000, level: 0.5, seed: 4))
        let whole = try columns(input, sound(48_000, 2))
        var random = SeededRandom(seed: 9)
        for most in [3, 700, 9000] {
            var maker = try ColumnMaker(sound(48_000, 2))
            var found: [UInt8] = []
            var start = 0
            while start < input.count {
                let end = min(input.count, start + 1 + random.below(most))
                maker.append(input.span.bytes.extracting(start..<end), to: &found)
                start = end
            }
            maker.finish(to: &found)
            #expect(found == whole && maker.frames == 20_000)
        }
    }

    @Test(arguments: [1000, 7350, 8000, 44_100, 48_000, 96_000, 192_000, 384_000, 1_000_000])
    func `a sound of any length has a column for each tenth of a second that begins in it`(_ rateHz: Int) throws {
        let tenth = rateHz / 10
        for frames in [0, 1, tenth - 1, tenth, tenth + 1, 2 * tenth, 2 * tenth + 1] {
            let found = try columns(bytes([Int16](repeating: 8192, count: frames)), sound(rateHz))
            #expect(found.count == (frames + tenth - 1) / tenth * 256, "\(frames)")
            // No column is without a window: the sound is constant.
            for column in stride(from: 0, to: found.count, by: 256) where frames > tenth {
                #expect(found[column] >= 100, "\(frames), column \(column / 256)")
            }
        }
    }

    @Test func `a click at any frame is in the columns around it`() throws {
        let frames = 3000
        var random = SeededRandom(seed: 5)
        for frame in [0, 1, 1599, 1600, frames - 1] + (0..<full(300, usually: 10)).map({ _ in random.below(frames) }) {
            var samples = [Int16](repeating: 0, count: frames)
            samples[frame] = 32_767
            let found = try columns(bytes(samples), sound(16_000))
            // In the middle of a window of 512 it has −42 dB, between two middles 6 dB less.
            let expected = frame / 1600
            let near = max(0, expected - 1)...min(1, expected + 1)
            let isThere = near.contains { column in
                let start = column * 256
                return found[start..<start + 256].allSatisfy { $0 >= 151 }
            }
            #expect(isThere, "frame \(frame)")
        }
    }

    @Test(arguments: [(48_000, 1024), (24_000, 512), (96_000, 1024), (96_001, 2048), (384_000, 2048)])
    func `the window depends on the rate, and a sine is in the band of its frequency`(rateHz: Int, window: Int) throws {
        let format = try ColumnFormat(rateHz: rateHz, channels: 1)
        #expect(format.window == window && format.hop == window / 2)
        let period = 16
        let samples = (0..<rateHz * 3 / 10).map {
            Int16(32_767 * Definition.sine(Double($0 % period) / Double(period)))
        }
        let found = try columns(bytes(samples), sound(rateHz))
        // The windows of the second column are within the sound.
        let band = 256 + 512 / period
        #expect(found[band] == 200)
        #expect(found[band + 8] < 110 && found[band - 8] < 110)
    }

    // Without optimisation, each access to an array's elements allocates.
    @Test(.enabled(if: allocations_are_counted() && !_isDebugAssertConfiguration()))
    func `nothing is allocated while sound passes`() throws {
        let piece = bytes(noise(2 * 4801, level: 0.5, seed: 4))
        var maker = try ColumnMaker(sound(48_000, 2))
        var columns: [UInt8] = []
        columns.reserveCapacity(64 * 512)
        maker.append(piece.span.bytes, to: &columns)
        let before = allocation_count_of_this_thread()
        for _ in 0..<8 { maker.append(piece.span.bytes, to: &columns) }
        #expect(allocation_count_of_this_thread() == before)
        #expect(columns.count == 8 * 512)
    }

    @Test func `what no recorder stores is refused`() {
        for (rateHz, channels) in [(999, 1), (1_000_001, 1), (48_000, 0), (48_000, 1025), (-1, 1), (0, 0)] {
            #expect(throws: SpectraError.self) { _ = try ColumnMaker(sound(rateHz, channels)) }
        }
        #expect(throws: SpectraError.self) { _ = try ColumnMaker(sound(48_000), columnsPerSecond: 0) }
        #expect(
            (try? ColumnFormat(rateHz: 7, channels: 1)) == nil
                && SpectraErrorText.of { _ = try ColumnFormat(rateHz: 7, channels: 1) }
                    == "spectrum: the rate in hertz is 7, 1000 to 1000000 are allowed"
        )
    }
}

enum SpectraErrorText {
    /// The sentence of the error that some work throws.
    static func of(_ work: () throws -> Void) -> String? {
        do {
            try work()
            return nil
        } catch { return "\(error)" }
    }
}
