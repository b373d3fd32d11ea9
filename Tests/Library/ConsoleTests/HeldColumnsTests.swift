import DiskCalls
import Spectra
import Testing

@testable import Console

@Suite(.waitsOnNamedThreads) struct HeldColumnsTests {
    /// A record that consists of a number.
    private func record(_ number: Int, channels: Int) -> [UInt8] {
        let values = [UInt8](repeating: UInt8(truncatingIfNeeded: number), count: 256 * channels)
        return LiveColumns.bytes(of: Int64(number)) + values
    }

    private func held(_ count: Int, channels: Int) throws -> HeldColumns {
        var held = HeldColumns(try ColumnFormat(rateHz: 48_000, channels: channels, columnsPerSecond: 20))
        for number in 0..<count { held.append(record(number, channels: channels)) }
        return held
    }

    @Test func `a minute is held, and an answer begins with the oldest column`() throws {
        let held = try held(2000, channels: 2)
        #expect(held.first == 800 && held.end == 2000)
        var (found, next): ([UInt8], Int) = ([], held.first)
        while next < held.end {
            let (bytes, after) = held.records(from: next, untilBytes: 65_536)
            #expect(bytes.count < 65_536 + 520 && bytes.count == (after - next) * 520)
            found += bytes
            next = after
        }
        #expect(found == (800..<2000).flatMap { record($0, channels: 2) })
        #expect(held.records(from: next, untilBytes: 65_536).bytes == [])
        // 2 channels, 256 rows, 48 kHz, a window of 1024, frame 800.
        let numbers: [UInt8] = [2, 0, 0, 0, 0, 1, 0, 0, 0x80, 0xbb, 0, 0, 0, 4, 0, 0, 0x20, 3, 0, 0, 0, 0, 0, 0]
        #expect(held.head == Array("FFSPECT1".utf8) + numbers)
    }

    @Test func `a reader that is too slow continues in the middle of what is held`() throws {
        let held = try held(1700, channels: 2)
        let (bytes, next) = held.records(from: 499, untilBytes: 1)
        #expect(held.first == 500 && next == 1101 && bytes == record(1100, channels: 2))
        #expect(held.records(from: 500, untilBytes: 1).next == 501)
    }

    @Test func `many channels shorten what is held, so that it never takes more memory`() throws {
        let held = try held(600, channels: 32)
        #expect((held.end - held.first) * (8 + 32 * 256) <= HeldColumns.mostBytes)
        #expect(held.end - held.first == 511)
        #expect(held.records(from: held.first, untilBytes: 1).bytes == record(89, channels: 32))
    }

    @Test func `several records may be added at once`() throws {
        var held = try held(0, channels: 1)
        held.append((0..<3).flatMap { record($0, channels: 1) })
        held.append([])
        held.append((3..<1300).flatMap { record($0, channels: 1) })
        #expect(held.first == 100 && held.records(from: 1299, untilBytes: 1).bytes == record(1299, channels: 1))
    }
}
