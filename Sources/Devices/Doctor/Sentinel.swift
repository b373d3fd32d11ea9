import Takes

/// A block of 4 KiB that identifies its file and its position: the seed of the test, the block's number in the file,
/// bytes derived from both, and a checksum of the whole block (CRC-32C). All blocks of a test differ.
struct Sentinel: Equatable {
    /// The size of a block: no storage writes less at a time.
    static let byteCount = 4096

    /// The same for all blocks of a test, and different in each test.
    var seed: UInt64
    /// The block's number in the file, from 0.
    var number: Int64

    /// The result of reading the place of a sentinel.
    enum Reading: Hashable {
        case own
        /// A sentinel of the same test that was written elsewhere in the file.
        case another(number: Int64)
        /// Anything else: the block was not stored.
        case lost
        /// The storage reported an error of `errno(3)`.
        case unreadable(code: Int32)
    }

    /// The byte offset in the file.
    var offset: Int64 { number * Int64(Self.byteCount) }

    private static let magic: UInt64 = 0x4646_5345_4E54_4C31

    var bytes: [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(Self.byteCount)
        for word in [Self.magic, seed, UInt64(bitPattern: number)] { bytes.append(littleEndian: word) }
        // Bytes that no storage can compress, or confuse with those of another block.
        var state = Self.mixed(seed ^ Self.mixed(UInt64(bitPattern: number)))
        while bytes.count < Self.byteCount - 8 {
            state &+= 0x9E37_79B9_7F4A_7C15
            bytes.append(littleEndian: Self.mixed(state))
        }
        bytes.append(littleEndian: UInt64(Self.checksum(bytes)))
        return bytes
    }

    /// Classifies a block that was read at the place of this sentinel.
    func reading(of block: [UInt8]) -> Reading {
        guard block.count == Self.byteCount, block.littleEndian(at: 0) == Self.magic, block.littleEndian(at: 8) == seed,
            block.littleEndian(at: Self.byteCount - 8) == UInt64(Self.checksum(Array(block.dropLast(8))))
        else { return .lost }
        let found = Int64(bitPattern: block.littleEndian(at: 16))
        return found == number ? .own : .another(number: found)
    }

    /// The finaliser of SplitMix64.
    private static func mixed(_ word: UInt64) -> UInt64 {
        var word = word
        word = (word ^ word >> 30) &* 0xBF58_476D_1CE4_E5B9
        word = (word ^ word >> 27) &* 0x94D0_49BB_1331_11EB
        return word ^ word >> 31
    }

    private static let polynomial = CRC32.Polynomial.castagnoli

    private static func checksum(_ bytes: [UInt8]) -> UInt32 {
        var checksum = CRC32(polynomial)
        checksum.update(bytes)
        return checksum.value
    }
}

extension [UInt8] {
    fileprivate mutating func append(littleEndian word: UInt64) {
        for shift in stride(from: 0, to: 64, by: 8) { append(UInt8(truncatingIfNeeded: word >> UInt64(shift))) }
    }

    fileprivate func littleEndian(at index: Int) -> UInt64 {
        (0..<8).reduce(0) { $0 | UInt64(self[index + $1]) << UInt64(8 * $1) }
    }
}
