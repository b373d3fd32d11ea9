import DiskCalls
import Files
import Spectra
import Takes
import Testing

@testable import Exports

@Suite(.waitsOnNamedThreads) struct DayPictureTests {
    private func values(_ picture: DayPicture) -> [UInt8] { Array(picture.bytes.dropFirst(32)) }

    private func column(_ index: Int, of picture: DayPicture) -> [UInt8] {
        Array(values(picture)[index * 256..<(index + 1) * 256])
    }

    /// Whether the greatest value of a column is in this row, or beside it.
    private func isLoudest(_ row: Int, in index: Int, of picture: DayPicture) -> Bool {
        let column = column(index, of: picture)
        return column.firstIndex(of: column.max() ?? 0).map { abs($0 - row) <= 1 } ?? false
    }

    private func sine(_ hertz: Int, seconds: Int, rateHz: Int = 8000) -> DrawnTake.Part {
        DrawnTake.Part(
            first: 0, rateHz: rateHz, samples: DrawnTake.sine(hertz, rateHz: rateHz, frames: rateHz * seconds))
    }

    @Test func `takes are where they were on the day, and nothing is between them`() throws {
        let takes = try [sine(1000, seconds: 100), sine(3000, seconds: 30)].map { try DrawnTake([$0]) }
        var picture = try DayPicture(DayColumns(60, of: 0..<600), rateHz: 8000)
        // The first take began before the stretch, the second one goes on behind it.
        for (take, second) in [(takes[0], -40.0), (takes[1], 585)] {
            let lacks = picture.add(take.sidecar, at: second, take.readers)
            #expect(!lacks)
        }
        let sounding = (0..<60).filter { column($0, of: picture).contains { $0 > 0 } }
        #expect(sounding == Array(0..<6) + [58, 59])
        // A row has 15.625 Hz.
        #expect((0..<6).allSatisfy { isLoudest(64, in: $0, of: picture) })
        #expect([58, 59].allSatisfy { isLoudest(192, in: $0, of: picture) })
        #expect(picture.computed == 1)
    }

    @Test func `a take of a lower rate has the rows of its frequencies, and the head says what they are`() throws {
        let low = try DrawnTake([sine(1000, seconds: 20)])
        var picture = try DayPicture(DayColumns(2, of: 100..<120), rateHz: 48_000)
        let lacks = picture.add(low.sidecar, at: 100, low.readers)
        #expect(!lacks)
        // A row has 93.75 Hz.
        #expect((0..<2).allSatisfy { isLoudest(10, in: $0, of: picture) })
        #expect(column(0, of: picture)[43...].allSatisfy { $0 == 0 })
        let head =
            Array("FFSPECT1".utf8) + [2, 0, 0, 0, 0, 1, 0, 0, 0x80, 0xbb, 0, 0, 0, 4, 0, 0, 100, 0, 0, 0, 0, 0, 0, 0]
        #expect(Array(picture.bytes.prefix(32)) == head)
        #expect(picture.bytes.count == 32 + 512)
    }

    @Test func `the rate is the highest that has spectrograms, whatever else was recorded on the day`() throws {
        #expect(DayPicture.rateHz(of: [8000, 192_000, 48_000]) == 192_000)
        #expect(DayPicture.rateHz(of: [8000, 10_000_000, 1]) == 8000)
        #expect(DayPicture.rateHz(of: [1]) == 48_000 && DayPicture.rateHz(of: []) == 48_000)
        _ = try DayPicture(DayColumns(1, of: 0..<10), rateHz: DayPicture.rateHz(of: [10_000_000]))
    }

    @Test func `the greatest of all channels and of takes at the same time is shown`() throws {
        let left = DrawnTake.sine(500, rateHz: 8000, frames: 80_000, amplitude: 0.01)
        let right = DrawnTake.sine(2000, rateHz: 8000, frames: 80_000)
        let stereo = try DrawnTake(
            [.init(first: 0, rateHz: 8000, samples: zip(left, right).flatMap { [$0, $1] }, channels: 2)], channels: 2)
        let mono = try DrawnTake([sine(3000, seconds: 10)])
        var picture = try DayPicture(DayColumns(1, of: 0..<10), rateHz: 8000)
        let stereoLacks = picture.add(stereo.sidecar, at: 0, stereo.readers)
        #expect(!stereoLacks)
        let before = column(0, of: picture)
        let monoLacks = picture.add(mono.sidecar, at: 0, mono.readers)
        #expect(!monoLacks)
        let after = column(0, of: picture)
        #expect(zip(before, after).allSatisfy { $0 <= $1 })
        for row in [32, 128, 192] { #expect(after[row] > 100, "row \(row)") }
        #expect(before[192] < after[192])
    }

    @Test func `the share that is computed counts the sound in the stretch`() throws {
        var second = sine(1000, seconds: 30)
        (second.first, second.hasColumns) = (8000 * 40, false)
        let take = try DrawnTake([sine(1000, seconds: 20), second])
        var picture = try DayPicture(DayColumns(10, of: 0..<100), rateHz: 8000)
        let lacks = picture.add(take.sidecar, at: 0, take.readers)
        #expect(lacks)
        #expect(picture.computed == 0.4)
        var first = try DayPicture(DayColumns(10, of: 0..<20), rateHz: 8000)
        let firstLacks = first.add(take.sidecar, at: 0, take.readers)
        #expect(!firstLacks)
        #expect(first.computed == 1)
        var between = try DayPicture(DayColumns(10, of: 20..<40), rateHz: 8000)
        let betweenLacks = between.add(take.sidecar, at: 0, take.readers)
        #expect(!betweenLacks)
        #expect(between.computed == 1 && values(between).allSatisfy { $0 == 0 })
        // A file that is gone meanwhile.
        try FileSystem().remove("\(take.folder)/0.spectrum")
        var gone = try DayPicture(DayColumns(10, of: 0..<20), rateHz: 8000)
        let goneLacks = gone.add(take.sidecar, at: 0, take.readers)
        #expect(goneLacks)
        #expect(gone.computed == 0)
    }
}
