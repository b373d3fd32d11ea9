import Digests
import Testing

struct DigestTests {
    @Test(
        "the published answers: RFC 1321 (A.5), FIPS 180 (examples)",
        arguments: [
            (Digest.Algorithm.md5, "", "d41d8cd98f00b204e9800998ecf8427e"),
            (.md5, "message digest", "f96b697d7cb7938d525a2f31aaf161d0"),
            (.sha1, "abc", "a9993e364706816aba3e25717850c26c9cd0d89d"),
            (.sha256, "abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
            (.sha256, "", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
        ])
    func publishedAnswers(algorithm: Digest.Algorithm, text: String, expected: String) {
        #expect(Digest.of(text.utf8, algorithm).hexadecimal == expected)
    }

    @Test func `pieces, slices and sequences without storage give the hash of the whole`() {
        let bytes = (0..<1000).map { UInt8(truncatingIfNeeded: $0 &* 7) }
        var digest = Digest(.sha256)
        digest.update(bytes[..<333])
        digest.update(bytes[333..<333])
        digest.update(bytes[333...].lazy.map(\.self))
        #expect(digest.bytes == Digest.sha256(bytes))
    }

    @Test func `a copy goes its own way, and the hash so far can be asked for again`() {
        var first = Digest(.md5)
        first.update("message".utf8)
        var second = first
        second.update(" digest".utf8)
        #expect(first.bytes == Digest.of("message".utf8, .md5))
        #expect(first.bytes == first.bytes)
        #expect(second.bytes.hexadecimal == "f96b697d7cb7938d525a2f31aaf161d0")
    }

    @Test(
        "RFC 4231, test cases 1, 2 and 6",
        arguments: [
            (
                [UInt8](repeating: 0x0b, count: 20), "Hi There",
                "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7"
            ),
            (
                Array("Jefe".utf8), "what do ya want for nothing?",
                "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"
            ),
            (
                [UInt8](repeating: 0xaa, count: 131), "Test Using Larger Than Block-Size Key - Hash Key First",
                "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54"
            ),
        ])
    func authenticationCodes(key: [UInt8], text: String, expected: String) {
        #expect(Digest.authenticationCode(text, key: key).hexadecimal == expected)
    }
}
