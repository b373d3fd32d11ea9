import Digests
import FoundationEssentials
import Upload

/// Hashes of a file's parts, and the hashes that a server should show for the same bytes.
struct S3Prints: Checksum {
    private let layout: S3Parts
    private(set) var parts: [Part] = []
    private var sha256 = Digest(.sha256)
    private var md5 = Digest(.md5)
    /// The length of the current part so far.
    private var partByteCount: Int64 = 0

    struct Part: Sendable {
        /// Nil if the part is the whole file.
        var sha256: [UInt8]?
        var md5: [UInt8]
    }

    init(_ layout: S3Parts) { self.layout = layout }

    mutating func update(_ bytes: [UInt8]) {
        var rest = bytes[...]
        while !rest.isEmpty, parts.count < layout.count {
            let range = layout.range(of: parts.count + 1)
            let missing = range.upperBound - range.lowerBound - partByteCount
            let piece = rest.prefix(Int(missing))
            md5.update(piece)
            if layout.count > 1 { sha256.update(piece) }
            partByteCount += Int64(piece.count)
            rest = rest.dropFirst(piece.count)
            if missing == Int64(piece.count) { endPart() }
        }
    }

    private mutating func endPart() {
        parts.append(Part(sha256: layout.count > 1 ? sha256.bytes : nil, md5: md5.bytes))
        (sha256, md5, partByteCount) = (Digest(.sha256), Digest(.md5), 0)
    }

    /// Whether an `ETag` without quotes has the form of an MD5, or of a multipart MD5.
    static func isMD5(_ tag: String) -> Bool {
        tag.prefix { $0 != "-" }.utf8.count == 32 && tag.allSatisfy { $0.isHexDigit || $0 == "-" }
    }

    /// Whether an `ETag` is the MD5 of these bytes, or of the parts' MD5s.
    func isHash(tag: String?) -> Bool {
        let ofParts = Digest.of(parts.flatMap(\.md5), .md5)
        var tags = ["\(ofParts.hexadecimal)-\(parts.count)"]
        if parts.count < 2 {
            tags.append((parts.first?.md5 ?? Digest.of([UInt8](), .md5)).hexadecimal)
        }
        return tags.contains(Self.bare(tag))
    }

    /// An `ETag` without quotes, in lower case.
    static func bare(_ tag: String?) -> String { tag?.filter { $0 != "\"" }.lowercased() ?? "" }

    /// Whether the server's own hashes equal those of these bytes, or nil if the server shows none that decides.
    ///
    /// Each server computes the `ETag`: the MD5 of the bytes, or of the parts' MD5s, unless it encrypts. A checksum may
    /// be a copy from the request, so it counts only if the `ETag` does not look like an MD5.
    /// - Parameters:
    ///   - checksum: `x-amz-checksum-sha256` in base64, with or without the number of parts at the end.
    ///   - sha256: the hash of the whole file, in hexadecimal.
    func match(tag: String?, checksum: String?, sha256: String) -> Bool? {
        if isHash(tag: tag) { return true }
        guard let checksum, !Self.isMD5(Self.bare(tag)) else { return nil }
        let whole = S3Upload.bytes(hexadecimal: sha256)
        let ofHashes = Digest.sha256(parts.flatMap { $0.sha256 ?? whole })
        return [whole, ofHashes].contains { Data($0).base64EncodedString() == checksum.prefix { $0 != "-" } }
    }
}
