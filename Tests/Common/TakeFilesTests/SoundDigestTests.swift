import TakeFiles
import Testing

/// The vectors of FIPS 180-4 (NIST's "SHA-256 examples").
@Suite struct SoundDigestTests {
    @Test(arguments: SHA256BlocksTests.vectors)
    func `the digest of a text is the standard's`(text: [UInt8], expected: String) {
        #expect(soundSHA256(text) == expected)
    }

    @Test func `the digest of a million letters, in pieces of any length, is the standard's`() {
        let letters = [UInt8](repeating: UInt8(ascii: "a"), count: 1_000_000)
        for piece in [1, 63, 64, 65, 4096, 1_000_000] {
            var digest = SoundDigest()
            for start in stride(from: 0, to: letters.count, by: piece) {
                digest.update(Array(letters[start..<min(start + piece, letters.count)]))
            }
            #expect(digest.hexadecimal == "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0")
            #expect(digest.byteCount == 1_000_000)
        }
    }
}
