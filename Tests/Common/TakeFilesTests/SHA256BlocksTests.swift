import CAllocationCount
import CSHA256
import SeededRandom
import TakeFiles
import Testing

/// SHA-256 in portable C, and with the processor's instructions.
struct SHA256BlocksTests {
    enum Implementation: CaseIterable {
        case portable, instructions, chosen

        /// Whether this processor supports it.
        var isThere: Bool {
            switch self {
            case .portable, .chosen: true
            case .instructions:
                [UInt8](repeating: 0, count: 64).withUnsafeBufferPointer { block in
                    var state = [UInt32](repeating: 0, count: 8)
                    return fieldfare_sha256_blocks_by_instructions(&state, block.baseAddress, 0)
                }
            }
        }

        /// Compresses whole blocks.
        func compress(_ bytes: UnsafePointer<UInt8>, _ blocks: Int, into state: inout [UInt32]) {
            switch self {
            case .portable: fieldfare_sha256_blocks_portable(&state, bytes, blocks)
            case .instructions: #expect(fieldfare_sha256_blocks_by_instructions(&state, bytes, blocks))
            case .chosen: fieldfare_sha256_blocks(&state, bytes, blocks)
            }
        }

        /// The digest of a whole message, padded here (FIPS 180-4, section 5.1.1).
        func digest(_ message: [UInt8]) -> String {
            var padded = message + [0x80]
            padded += [UInt8](repeating: 0, count: (120 - padded.count % 64) % 64)
            padded += (0..<8).map { UInt8(truncatingIfNeeded: (message.count * 8) >> (56 - 8 * $0)) }
            var state: [UInt32] = [
                0x6a09_e667, 0xbb67_ae85, 0x3c6e_f372, 0xa54f_f53a, 0x510e_527f, 0x9b05_688c, 0x1f83_d9ab, 0x5be0_cd19,
            ]
            padded.withUnsafeBufferPointer { compress($0.baseAddress!, padded.count / 64, into: &state) }
            return state.map { word in
                let digits = String(word, radix: 16)
                return String(repeating: "0", count: 8 - digits.count) + digits
            }.joined()
        }
    }

    /// NIST's "SHA-256 examples": 0, 24, 448 and 896 bits, and a million letters.
    static let vectors: [([UInt8], String)] = [
        ("", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
        ("abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
        (
            "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"
        ),
        (
            "abcdefghbcdefghicdefghijdefghijkefghijklfghijklmghijklmnhijklmnoijklmnopjklmnopqklmnopqrlmnopqrsmnopqrstnopqrstu",
            "cf5b16a778af8380036ce59e7b0492370b249b11e8f07a51afac45037afee9d1"
        ),
        (
            String(repeating: "a", count: 1_000_000),
            "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0"
        ),
    ].map { (Array($0.0.utf8), $0.1) }

    @Test(arguments: Implementation.allCases) func `every implementation gives the standard's digests`(
        implementation: Implementation
    ) {
        guard implementation.isThere else { return }
        for (message, expected) in Self.vectors { #expect(implementation.digest(message) == expected) }
    }

    @Test func `the instructions and portable C give the same state for any blocks at any address`() {
        guard Implementation.instructions.isThere else { return }
        var random = SeededRandom(seed: 1)
        let bytes = (0..<8192).map { _ in UInt8.random(in: 0...255, using: &random) }
        for _ in 0..<full(20_000, usually: 2000) {
            let start = Int.random(in: 0..<64, using: &random)
            let blocks = Int.random(in: 0...(8192 - start) / 64, using: &random)
            let state = (0..<8).map { _ in UInt32.random(in: 0 ... .max, using: &random) }
            var portable = state, instructions = state, chosen = state
            bytes.withUnsafeBufferPointer { buffer in
                let source = buffer.baseAddress! + start
                Implementation.portable.compress(source, blocks, into: &portable)
                Implementation.instructions.compress(source, blocks, into: &instructions)
                Implementation.chosen.compress(source, blocks, into: &chosen)
            }
            #expect(portable == instructions && portable == chosen, "\(blocks) blocks at \(start)")
        }
    }

    @Test func `the digest of any length does not depend on how the bytes are cut`() {
        let bytes = sound(0..<100, stereo16)
        for length in 0...200 {
            let message = Array(bytes.prefix(length))
            let expected = Implementation.portable.digest(message)
            for cut in 0...length {
                var digest = SoundDigest()
                digest.update(Array(message[..<cut]))
                // More bytes may follow after the digest was read.
                _ = digest.hexadecimal
                digest.update(Array(message[cut...]))
                #expect(digest.hexadecimal == expected, "\(length) bytes, cut at \(cut)")
            }
        }
        var random = SeededRandom(seed: 2)
        for _ in 0..<full(2000, usually: 200) {
            let message = sound(0..<Int64.random(in: 0...3000, using: &random), stereo16)
            var digest = SoundDigest()
            var start = 0
            while start < message.count {
                let end = min(message.count, start + Int.random(in: 0...700, using: &random))
                digest.update(Array(message[start..<end]))
                start = end
            }
            #expect(digest.hexadecimal == Implementation.portable.digest(message))
        }
    }

    @Test(.enabled(if: allocations_are_counted())) func `adding bytes to a digest allocates nothing`() {
        let bytes = [UInt8](repeating: 0x5a, count: 10_000)
        var digest = SoundDigest()
        bytes.withUnsafeBytes { bytes in
            digest.update(bytes)
            let before = allocation_count_of_this_thread()
            digest.update(UnsafeRawBufferPointer(rebasing: bytes[..<1]))
            digest.update(UnsafeRawBufferPointer(rebasing: bytes[..<63]))
            digest.update(UnsafeRawBufferPointer(rebasing: bytes[..<100]))
            digest.update(bytes)
            // The macro allocates memory itself.
            let count = allocation_count_of_this_thread() - before
            #expect(count == 0)
        }
    }
}
