import DiskCalls
import SeededRandom
import Spectra
import Takes
import Testing

@testable import Exports

@Suite(.waitsOnNamedThreads) struct TakePictureTests {
    private func query(
        _ take: DrawnTake, _ range: Range<Int64> = 0 ..< .max, columns: Int, channel: Int = 0, window: Int? = nil
    ) throws -> PictureQuery {
        try PictureQuery(of: take.sidecar, range: range, columns: columns, channel: channel, window: window)
    }

    private func sound(_ take: DrawnTake) throws -> TakeSound { try TakeSound(of: take.sidecar, in: take.folder) }

    /// The picture from the files of columns, and from the sound.
    private func both(_ query: PictureQuery, _ take: DrawnTake) throws -> [TakePicture] {
        [try query.picture(of: take.sidecar, by: take.readers), try query.picture(of: try sound(take))]
    }

    private func column(_ index: Int, of picture: TakePicture) -> ArraySlice<UInt8> {
        picture.values[index * picture.rows..<(index + 1) * picture.rows]
    }

    /// The row with the greatest value of a column.
    private func loudest(_ index: Int, of picture: TakePicture) -> Int {
        let column = column(index, of: picture)
        return column.indices.max { column[$0] < column[$1] }! - column.startIndex
    }

    private func noise(_ count: Int, seed: UInt64) -> [Int16] {
        var random = SeededRandom(seed: seed)
        return (0..<count).map { _ in Int16(truncatingIfNeeded: Int64(bitPattern: random.next()) >> 50) }
    }

    @Test func `a click of one sample in an hour is in the picture of the whole`() throws {
        let frames = 3_600_000
        var random = SeededRandom(seed: 4)
        var samples = [Int16](repeating: 0, count: frames)
        var clicks: Set<Int> = []
        for _ in 0..<10 {
            let frame = random.below(frames)
            clicks.insert(frame)
            samples[frame] = 32_767
        }
        let take = try DrawnTake([.init(first: 0, rateHz: 1000, samples: samples)])
        for columns in [1, 300, 512, 2000] {
            let query = try query(take, columns: columns)
            #expect(query.detail == .coarse(window: 512) && !query.isShort && query.rows == 256)
            let picture = try query.picture(of: take.sidecar, by: take.readers)
            #expect(picture.values.count == columns * 256)
            for click in clicks {
                #expect(column(click * columns / frames, of: picture).allSatisfy { $0 >= 145 }, "\(click)")
            }
            // A click is in two windows, and a column of the file may be in two columns of the picture.
            let loud = (0..<columns).filter { column($0, of: picture).contains { $0 > 0 } }
            #expect(loud.count <= 3 * clicks.count)
        }
    }

    @Test func `the time between parts is silent, and the parts are not`() throws {
        let take = try DrawnTake([
            .init(first: 0, rateHz: 8000, samples: noise(80_000, seed: 1)),
            .init(first: 160_000, rateHz: 8000, samples: noise(40_000, seed: 2)),
        ])
        #expect(try query(take, columns: 1).range == 0..<200_000)
        // Coarse with edges of parts at edges of columns and between them; fine; and beyond a sample.
        for columns in [200, 77, 1] {
            for picture in try both(try query(take, columns: columns), take) {
                for index in 0..<columns {
                    let frames = index * 200_000 / columns..<(index + 1) * 200_000 / columns
                    let isSilent = !frames.overlaps(0..<80_000) && !frames.overlaps(160_000..<200_000)
                    let column = column(index, of: picture)
                    #expect(isSilent == column.allSatisfy { $0 == 0 }, "column \(index) of \(columns)")
                    #expect(isSilent || column.allSatisfy { $0 > 0 })
                }
            }
        }
        for (range, columns) in [(70_000..<170_000, 1000), (79_000..<81_000, 200), (79_990..<80_010, 100)] {
            let query = try query(take, Int64(range.lowerBound)..<Int64(range.upperBound), columns: columns)
            #expect(query.detail == .fine(window: 512) && query.rows == 256)
            let picture = try query.picture(of: try sound(take))
            for index in 0..<columns {
                let first = range.lowerBound + index * range.count / columns
                let frames = first..<max(first + 1, range.lowerBound + (index + 1) * range.count / columns)
                let isSilent = !frames.overlaps(0..<80_000) && !frames.overlaps(160_000..<200_000)
                #expect(isSilent == column(index, of: picture).allSatisfy { $0 == 0 }, "column \(index)")
            }
        }
    }

    @Test func `a part with another rate is shown at its frequencies, up to those that the take has`() throws {
        let take = try DrawnTake([
            .init(first: 0, rateHz: 8000, samples: DrawnTake.sine(1000, rateHz: 8000, frames: 40_000)),
            .init(first: 40_000, rateHz: 16_000, samples: DrawnTake.sine(3000, rateHz: 16_000, frames: 80_000)),
            .init(first: 80_000, rateHz: 16_000, samples: DrawnTake.sine(6000, rateHz: 16_000, frames: 80_000)),
            .init(first: 120_000, rateHz: 4000, samples: DrawnTake.sine(1500, rateHz: 4000, frames: 20_000)),
        ])
        #expect(try query(take, columns: 1).range == 0..<160_000)
        let coarse = try both(try query(take, columns: 16), take)
        let fine = try (0..<8).map { index in
            try query(take, Int64(index) * 20_000..<Int64(index + 1) * 20_000, columns: 100, window: 1024)
                .picture(of: try sound(take))
        }
        for picture in coarse {
            // 4000 Hz have 256 rows.
            for (place, row) in [(1, 64), (5, 192), (13, 96)] {
                #expect(abs(loudest(place, of: picture) - row) <= 1, "column \(place)")
            }
            // The tone is beyond the picture.
            #expect(column(9, of: picture).allSatisfy { $0 < 140 })
            #expect(column(13, of: picture).dropFirst(128).allSatisfy { $0 == 0 })
        }
        for (index, row) in [(0, 128), (2, 384), (6, 192)] {
            #expect(fine[index].rows == 512 && abs(loudest(50, of: fine[index]) - row) <= 1, "\(index)")
        }
        #expect(column(50, of: fine[4]).allSatisfy { $0 < 140 })
        #expect(column(50, of: fine[6]).dropFirst(256).allSatisfy { $0 == 0 })
    }

    @Test func `a channel that a part does not have is silent`() throws {
        let take = try DrawnTake(
            [
                .init(first: 0, rateHz: 8000, samples: noise(160_000, seed: 1), channels: 2),
                .init(first: 80_000, rateHz: 8000, samples: noise(80_000, seed: 2), hasColumns: false),
            ], channels: 2)
        for channel in 0..<2 {
            let query = try query(take, columns: 20, channel: channel)
            #expect(!query.isCovered(by: take.readers, of: take.sidecar))
            let picture = try query.picture(of: try sound(take))
            #expect(column(5, of: picture).allSatisfy { $0 > 0 })
            #expect(column(15, of: picture).allSatisfy { ($0 == 0) == (channel == 1) })
        }
        #expect(try query(take, 0..<80_000, columns: 10).isCovered(by: take.readers, of: take.sidecar))
    }

    @Test func `a tone has the same row in each channel, zoom and size`() throws {
        let left = DrawnTake.sine(1000, rateHz: 48_000, frames: 480_000)
        let right = DrawnTake.sine(6000, rateHz: 48_000, frames: 480_000)
        let samples = zip(left, right).flatMap { [$0, $1] }
        let take = try DrawnTake([.init(first: 0, rateHz: 48_000, samples: samples, channels: 2)], channels: 2)
        for (channel, hertz) in [(0, 1000), (1, 6000)] {
            for window in [256, 1024, 8192] {
                let query = try query(take, 100_000..<200_000, columns: 512, channel: channel, window: window)
                let picture = try query.picture(of: try sound(take))
                #expect(picture.window == window && picture.rows == window / 2 && picture.firstFrame == 100_000)
                #expect(abs(loudest(300, of: picture) - hertz * window / 48_000) <= 1)
                // −6 dB of full scale.
                #expect((190...196).contains(column(300, of: picture).max() ?? 0))
            }
            for picture in try both(try query(take, columns: 50, channel: channel, window: 8192), take) {
                #expect(picture.window == 1024 && picture.rows == 256)
                #expect(abs(loudest(25, of: picture) - hertz * 256 / 24_000) <= 1)
            }
        }
    }

    @Test func `the bytes begin with the numbers that a browser needs`() throws {
        let take = try DrawnTake([.init(first: 0, rateHz: 48_000, samples: noise(48_000, seed: 1))])
        let picture = try query(take, 0x1234..<40_000, columns: 300, window: 512).picture(of: try sound(take))
        let head: [UInt8] = [
            0x2c, 1, 0, 0, 0, 1, 0, 0, 0x80, 0xbb, 0, 0, 0, 2, 0, 0, 0x34, 0x12, 0, 0, 0, 0, 0, 0,
        ]
        #expect(picture.bytes == Array("FFSPECT1".utf8) + head + picture.values)
        #expect(picture.values.count == 300 * 256)
    }

    @Test func `what cannot be drawn is refused with a sentence`() throws {
        let take = try DrawnTake([
            .init(first: 0, rateHz: 1000, samples: [Int16](repeating: 1, count: 100_000), hasColumns: false)
        ])
        func refusal(
            _ range: Range<Int64> = 0..<1000, columns: Int = 10, channel: Int = 0, window: Int? = nil
        ) -> String? {
            do {
                _ = try query(take, range, columns: columns, channel: channel, window: window)
                return nil
            } catch {
                return "\(error)"
            }
        }
        let name = take.sidecar.take
        #expect(refusal() == nil)
        #expect(refusal(100_000..<100_001) == "spectrum: \(name) has frames 0 to 100000: from must lie before to")
        #expect(
            refusal(columns: 513, window: 8192)
                == "spectrum: 513 columns of 4096 rows make 2101248 bytes, at most 2097152 are sent: "
                + "ask for fewer columns, or a smaller size")
        #expect(refusal(columns: 0) == "spectrum: columns: found 0, allowed is a number from 1 to 2000")
        #expect(refusal(columns: 2001)?.contains("found 2001") == true)
        #expect(refusal(channel: 1) == "spectrum: channel: found 1, \(name) has the channels 0 to 0")
        for window in [0, 255, 257, 128, 16_384] {
            #expect(refusal(window: window)?.hasPrefix("spectrum: size: found \(window), allowed are 256") == true)
        }
        #expect(refusal(0..<60_000, columns: 601) == nil)
        #expect(
            refusal(0..<60_001, columns: 601)
                == "spectrum: \(name): columns of less than a tenth of a second are made of at most 60 s: "
                + "ask for fewer columns, or a shorter range")
        let long = try query(take, columns: 10)
        #expect(!long.isShort)
        #expect(throws: ExportError.self) { _ = try long.picture(of: try sound(take)) }
    }
}
