import Testing

@testable import TakeFiles

struct PeaksFileTests {
    @Test func `it is laid out as audiowaveform reads it`() {
        let file = PeaksFile(rateHz: 48_000, channels: 2, pairs: [-128, 127, -1, 1, 0, 2, -3, 0, 99])
        #expect(file.length == 2)
        var expected: [UInt8] = [2, 0, 0, 0, 1, 0, 0, 0, 0x80, 0xbb, 0, 0, 0, 1, 0, 0, 2, 0, 0, 0, 2, 0, 0, 0]
        expected += [0x80, 0x7f, 0xff, 1, 0, 2, 0xfd, 0]
        #expect(file.bytes == expected)
    }

    @Test func `a take without a frame has no pixel`() {
        #expect(PeaksFile(rateHz: 8000, channels: 1, pairs: []).bytes.count == PeaksFile.headerByteCount)
    }
}
