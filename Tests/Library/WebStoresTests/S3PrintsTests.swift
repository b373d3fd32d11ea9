import Foundation
import Testing

@testable import WebStores

@Suite struct S3PrintsTests {
    private static let mebibyte = 1 << 20

    /// The hashes of a file of this many MiB of the letter `a`.
    private func prints(mebibytes: Int) -> S3Prints {
        let layout = S3Parts(byteCount: Int64(mebibytes * Self.mebibyte))
        var prints = S3Prints(layout)
        // Pieces whose ends differ from those of the parts.
        let piece = [UInt8](repeating: 0x61, count: 3 * Self.mebibyte)
        for begun in stride(from: 0, to: mebibytes, by: 3) {
            prints.update(Array(piece.prefix((mebibytes - begun) * Self.mebibyte)))
        }
        return prints
    }

    // The hashes were computed by sha256sum(1) and md5sum(1).
    @Test(arguments: [
        (0, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855", "d41d8cd98f00b204e9800998ecf8427e"),
        (8, "ad97f87076920684e2ca66fc44e5d322797dc9d64706b174e51b5d0828937043", "a1b8519c990697ddb77acc121efeb403"),
        (9, "23ff721b5953999b01acf7b12c7e80f3ee453299b2f0b34b13b116977daef908", "2fc9af5a5a66cb293ccf5597c682760e-2"),
    ])
    func `the hashes of a whole file are the same in one part and in several`(
        mebibytes: Int, sha256: String, tag: String
    ) {
        let prints = prints(mebibytes: mebibytes)
        #expect(prints.match(tag: "\"\(tag)\"", checksum: nil, sha256: sha256) == true)
        #expect(prints.match(tag: "\"\(String(repeating: "0", count: 32))\"", checksum: nil, sha256: sha256) == nil)
        let checksum = S3Upload.base64(hexadecimal: sha256)
        #expect(prints.match(tag: "opaque", checksum: checksum, sha256: sha256) == true)
        #expect(prints.match(tag: "opaque", checksum: S3Upload.base64(hexadecimal: tag), sha256: sha256) == false)
    }
}
