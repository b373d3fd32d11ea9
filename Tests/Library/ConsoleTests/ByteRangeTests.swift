import DiskCalls
import Testing

@testable import Console

@Suite(.waitsOnNamedThreads) struct ByteRangeTests {
    @Test(arguments: [
        (nil, ByteRange.whole), ("bytes=0-9", .part(0..<10)), ("bytes=5-", .part(5..<100)),
        ("bytes=-3", .part(97..<100)),
        ("bytes=-300", .part(0..<100)), ("bytes=90-500", .part(90..<100)), ("bytes=99-99", .part(99..<100)),
        ("bytes=100-", .unsatisfiable), ("bytes=-0", .unsatisfiable), ("bytes=5-4", .whole), ("bytes=0-1,3-4", .whole),
        ("bytes=a-b", .whole), ("lines=0-1", .whole), ("bytes=", .whole), ("bytes=-", .whole),
        ("bytes=99999999999999999999-", .unsatisfiable),
    ])
    func `a range is read as RFC 9110 says`(_ field: String?, _ range: ByteRange) {
        #expect(ByteRange(field, of: 100) == range)
    }

    @Test func `nothing of an empty file is a range`() {
        #expect(ByteRange("bytes=0-", of: 0) == .unsatisfiable)
        #expect(ByteRange("bytes=-1", of: 0) == .unsatisfiable)
    }
}
