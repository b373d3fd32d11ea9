import DiskCalls
import Spectra
import Takes
import Testing

@testable import Console

@Suite(.waitsOnNamedThreads) struct LiveColumnsTests {
    private let stereo = MadeSound.stereo

    /// Gives sound in pieces of 1000 frames.
    /// - Returns: the records.
    private func add(
        _ frames: Range<Int64>, to columns: inout LiveColumns, _ format: StreamFormat = MadeSound.stereo
    ) throws -> [UInt8] {
        var records: [UInt8] = []
        for first in stride(from: frames.lowerBound, to: frames.upperBound, by: 1000) {
            let piece = first..<min(first + 1000, frames.upperBound)
            records += try columns.take(.sound(MadeSound.bytes(piece, format), first: first))
        }
        return records
    }

    /// Columns that begin with the next sound.
    private func answered(_ format: StreamFormat = MadeSound.stereo) throws -> LiveColumns {
        var columns = LiveColumns()
        for _ in 0..<2 { _ = try columns.take(.format(format)) }
        return columns
    }

    private struct Record {
        var frame: Int64
        var values: [UInt8]
    }

    private func split(_ records: [UInt8], channels: Int = 2) -> [Record] {
        stride(from: 0, to: records.count, by: 8 + 256 * channels).map { start in
            let frame = records[start..<start + 8].reversed().reduce(Int64(0)) { $0 << 8 | Int64($1) }
            return Record(frame: frame, values: Array(records[start + 8..<start + 8 + 256 * channels]))
        }
    }

    /// The columns that a computation of its own gives.
    private func computed(_ frames: Range<Int64>, _ format: StreamFormat = MadeSound.stereo) throws -> [UInt8] {
        var maker = try ColumnMaker(format, columnsPerSecond: 20)
        var values: [UInt8] = []
        let bytes = MadeSound.bytes(frames, format)
        maker.append(bytes.span.bytes, to: &values)
        return values
    }

    @Test func `sound before the past is dropped, and the columns have their first frames`() throws {
        var columns = LiveColumns()
        #expect(columns.format == nil)
        var early = try columns.take(.format(stereo))
        early += try add(90_000..<93_000, to: &columns)
        early += try columns.take(.format(stereo))
        #expect(early == [])
        let records = split(try add(50_000..<98_000, to: &columns))
        #expect(records.map(\.frame) == (0..<19).map { 50_000 + 2400 * $0 })
        let expected = try computed(50_000..<98_000)
        #expect(records.flatMap(\.values) == expected)
        let format = try ColumnFormat(rateHz: 48_000, channels: 2, columnsPerSecond: 20)
        #expect(columns.format == format)
    }

    @Test func `a recorder that does not answer is used after a second`() throws {
        var columns = LiveColumns()
        _ = try columns.take(.format(stereo))
        let early = try add(7000..<55_000, to: &columns)
        #expect(early == [])
        let records = split(try add(55_000..<70_000, to: &columns))
        #expect(records.map(\.frame) == (0..<records.count).map { 55_000 + 2400 * Int64($0) } && records.count >= 4)
    }

    @Test func `after missing frames the columns begin again at the next frame`() throws {
        var columns = try answered()
        _ = try add(0..<20_000, to: &columns)
        let records = split(try add(30_001..<60_000, to: &columns))
        #expect(records.first?.frame == 30_001)
        let expected = try computed(30_001..<60_000)
        #expect(records.flatMap(\.values) == expected)
    }

    @Test func `columns of a rate that 20 does not divide begin within the frames, and do not drift`() throws {
        let format = StreamFormat(rateHz: 11_025, channels: 1, sampleFormat: .s16)
        var columns = try answered(format)
        let records = split(try add(0..<20 * 11_025, to: &columns, format), channels: 1)
        #expect(records.prefix(5).map(\.frame) == [0, 552, 1103, 1654, 2205])
        #expect(records[380].frame == 19 * 11_025)
    }

    @Test func `another format ends the spectrogram, and too many channels have none`() throws {
        var columns = try answered()
        #expect(throws: LiveSocket.Failure.self) { try columns.take(.format(stereo)) }
        var wide = LiveColumns()
        let format = StreamFormat(rateHz: 48_000, channels: 33, sampleFormat: .s16)
        _ = try wide.take(.format(format))
        #expect(throws: LiveSocket.Failure.self) { try wide.take(.format(format)) }
    }
}
