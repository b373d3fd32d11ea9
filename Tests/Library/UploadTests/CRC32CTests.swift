import Foundation
import SeededRandom
import Testing

@testable import Upload

struct CRC32CTests {
    private static let vectors: [(bytes: [UInt8], checksum: UInt32)] = [
        ([UInt8](repeating: 0, count: 32), 0x8a91_36aa), ([UInt8](repeating: 0xff, count: 32), 0x62a8_ab43),
        (Array(0..<32), 0x46dd_794e), (Array((0..<32).reversed()), 0x113f_db5c), ([], 0),
        (Array("123456789".utf8), 0xe306_9283),
    ]

    @Test("checksums are those of RFC 3720", arguments: vectors)
    func checksums(bytes: [UInt8], expected: UInt32) {
        var checksum = CRC32C()
        checksum.update(bytes)
        #expect(checksum.value == expected)
    }

    @Test("a checksum is the same however the bytes are cut, and as one bit after the other gives")
    func pieces() {
        var random = SeededRandom(seed: 7)
        let bytes = (0..<1000).map { _ in UInt8.random(in: 0...255, using: &random) }
        var expected: UInt32 = ~0
        for byte in bytes {
            expected ^= UInt32(byte)
            for _ in 0..<8 { expected = expected & 1 == 1 ? expected >> 1 ^ 0x82f6_3b78 : expected >> 1 }
        }
        for size in [1, 3, 7, 8, 9, 64, 999, 1000] {
            var checksum = CRC32C()
            for start in stride(from: 0, to: bytes.count, by: size) {
                checksum.update(Array(bytes[start..<min(start + size, bytes.count)]))
            }
            #expect(checksum.value == ~expected, "pieces of \(size)")
        }
    }
}
