import Files
import Testing

@testable import Doctor

@Suite struct SentinelTests {
    private let sentinel = Sentinel(seed: 7, number: 300)

    @Test func `a block knows itself, and another of its run`() {
        #expect(sentinel.bytes.count == 4096)
        #expect(sentinel.offset == 300 * 4096)
        #expect(sentinel.reading(of: sentinel.bytes) == .own)
        #expect(sentinel.reading(of: Sentinel(seed: 7, number: 12).bytes) == .another(number: 12))
    }

    @Test func `what another run left, zeros, and half a block are lost`() {
        #expect(sentinel.reading(of: Sentinel(seed: 8, number: 300).bytes) == .lost)
        #expect(sentinel.reading(of: [UInt8](repeating: 0, count: 4096)) == .lost)
        #expect(sentinel.reading(of: Array(sentinel.bytes.prefix(2048))) == .lost)
        #expect(sentinel.reading(of: []) == .lost)
    }

    @Test(arguments: [0, 8, 16, 24, 2000, 4087, 4088, 4095])
    func `a block with one bit that is not its own is lost`(index: Int) {
        var bytes = sentinel.bytes
        bytes[index] ^= 0x10
        #expect(sentinel.reading(of: bytes) == .lost)
    }

    @Test func `no two blocks share a piece of 64 bytes`() {
        var pieces: Set<[UInt8]> = []
        for number in [0, 1, 2, 255, 256, 1 << 20, 1 << 31] as [Int64] {
            let bytes = Sentinel(seed: 7, number: number).bytes
            for start in stride(from: 0, to: 4096, by: 64) { pieces.insert(Array(bytes[start..<start + 64])) }
        }
        #expect(pieces.count == 7 * 64)
    }
}

@Suite struct FileLayoutTests {
    private let layout = FileLayout([
        FileExtent(offset: 0, place: 1000, byteCount: 100), FileExtent(offset: 100, place: 5000, byteCount: 50),
        FileExtent(offset: 150, place: 200, byteCount: 10),
    ])

    @Test(arguments: [(0, 1000), (99, 1099), (100, 5000), (149, 5049), (150, 200), (159, 209)] as [(Int64, Int64)])
    func `an offset has a place, and the place has it`(offset: Int64, place: Int64) {
        #expect(layout.place(ofOffset: offset) == place)
        #expect(layout.offset(ofPlace: place) == offset)
    }

    @Test func `what lies in no piece has none`() {
        for place in [0, 199, 210, 999, 1100, 4999, 5050] as [Int64] { #expect(layout.offset(ofPlace: place) == nil) }
        for offset in [-1, 160] as [Int64] { #expect(layout.place(ofOffset: offset) == nil) }
        #expect(FileLayout([]).place(ofOffset: 0) == nil)
    }
}
