import CSHA256

/// The fingerprint of the sound of an audio file: SHA-256 (FIPS 180-4) of its samples, as stored in the `data` chunk.
public struct SoundDigest: Sendable {
    /// The eight words of the state (FIPS 180-4, section 5.3.3).
    private var state: InlineArray<8, UInt32> = [
        0x6a09_e667, 0xbb67_ae85, 0x3c6e_f372, 0xa54f_f53a, 0x510e_527f, 0x9b05_688c, 0x1f83_d9ab, 0x5be0_cd19,
    ]
    /// The bytes after the last whole block.
    private var rest = InlineArray<64, UInt8>(repeating: 0)
    public private(set) var byteCount: Int64 = 0

    public init() {}

    public mutating func update(_ bytes: UnsafeRawBufferPointer) {
        var bytes = unsafe bytes
        let waiting = Int(byteCount % 64)
        byteCount += Int64(bytes.count)
        if waiting > 0 {
            let added = min(64 - waiting, bytes.count)
            for index in 0..<added { rest[waiting + index] = unsafe bytes[index] }
            guard waiting + added == 64 else { return }
            compressRest()
            unsafe bytes = UnsafeRawBufferPointer(rebasing: bytes[added...])
        }
        let blocks = bytes.count / 64
        // Safe: each of these blocks has 64 bytes, and the state has eight words.
        if let start = bytes.baseAddress, blocks > 0 {
            var words = state.mutableSpan
            unsafe words.withUnsafeMutableBufferPointer { words in
                guard let words = words.baseAddress else { return }
                unsafe fieldfare_sha256_blocks(words, start.assumingMemoryBound(to: UInt8.self), blocks)
            }
        }
        for index in 64 * blocks..<bytes.count { rest[index - 64 * blocks] = unsafe bytes[index] }
    }

    public mutating func update(_ bytes: [UInt8]) {
        // Safe: the bytes are read during the call.
        unsafe bytes.withUnsafeBytes { unsafe update($0) }
    }

    /// The fingerprint of all bytes so far: 64 lower-case hexadecimal digits. More bytes may be added afterwards.
    public var hexadecimal: String {
        var ended = self
        ended.end()
        return (0..<8).map { word in
            let digits = String(ended.state[word], radix: 16)
            return String(repeating: "0", count: 8 - digits.count) + digits
        }.joined()
    }

    /// Adds the padding of FIPS 180-4, section 5.1.1: a bit, zeros, and the number of bits.
    private mutating func end() {
        let bits = UInt64(byteCount) * 8
        let zeros = (119 - Int(byteCount % 64)) % 64
        update(
            [0x80] + [UInt8](repeating: 0, count: zeros)
                + (0..<8).map { UInt8(truncatingIfNeeded: bits >> (56 - 8 * $0)) })
    }

    private mutating func compressRest() {
        let bytes = rest
        let block = bytes.span
        var words = state.mutableSpan
        // Safe: the block has 64 bytes, and the state has eight words.
        unsafe block.withUnsafeBufferPointer { block in
            unsafe words.withUnsafeMutableBufferPointer { words in
                guard let words = words.baseAddress, let block = block.baseAddress else { return }
                unsafe fieldfare_sha256_blocks(words, block, 1)
            }
        }
    }
}
