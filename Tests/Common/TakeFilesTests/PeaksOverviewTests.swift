import Files
import Glibc
import TestBench
import Testing

@testable import TakeFiles

struct PeaksOverviewTests {
    private let scratch = TestFolder(in: .memory)
    private var path: String { "\(scratch.path)/a.dat" }
    private let files = FileSystem()

    private func overview(_ bytes: [UInt8], columns: Int) throws -> [Int]? {
        try files.write(bytes, to: files.create(path, isNew: false), at: 0)
        return PeaksOverview(reading: path, columns: columns)?.magnitudes
    }

    @Test func `a column has the greatest magnitude of its pixels and channels`() throws {
        let pairs: [Int8] = [[-1, 1, 0, 0], [-2, 1, 0, 5], [0, 0, -128, 127], [-7, 0, 3, 3]].flatMap(\.self)
        let bytes = PeaksFile(rateHz: 8000, channels: 2, pairs: pairs).bytes
        #expect(try overview(bytes, columns: 4) == [1, 5, 128, 7])
        #expect(try overview(bytes, columns: 2) == [5, 128])
        #expect(try overview(bytes, columns: 3) == [5, 128, 7])
        #expect(try overview(bytes, columns: 1) == [128])
        #expect(try overview(bytes, columns: 0) == [128])
        #expect(try overview(bytes, columns: 80) == [1, 5, 128, 7])
    }

    @Test func `a file of many pieces is read to its end`() throws {
        let pairs = (0..<600_000).map { Int8(truncatingIfNeeded: $0 / 60_000) }
        let bytes = PeaksFile(rateHz: 8000, channels: 1, pairs: pairs).bytes
        #expect(try overview(bytes, columns: 10) == Array(0...9))
    }

    @Test func `a take without a frame has no column`() throws {
        #expect(try overview(PeaksFile(rateHz: 8000, channels: 1, pairs: []).bytes, columns: 10) == [])
    }

    @Test func `what is missing, cut, longer, or of another layout is no waveform`() throws {
        #expect(PeaksOverview(reading: "/nowhere/a.dat", columns: 10) == nil)
        let whole = PeaksFile(rateHz: 8000, channels: 1, pairs: [-1, 1]).bytes
        for count in 0..<whole.count { #expect(try overview(Array(whole[..<count]), columns: 1) == nil) }
        #expect(try overview(whole + [0], columns: 1) == nil)
        for place in [0, 4, 16, 19, 20, 23] {
            var damaged = whole
            damaged[place] ^= 0x80
            #expect(try overview(damaged, columns: 1) == nil)
        }
        #expect(try overview(whole, columns: 1) == [1])
    }
}
