import Crypto
import FoundationEssentials
import Upload

/// What a server shows of the bytes that it has, if they are those of a file that was sent in parts: hashes of the whole, and of the parts'
/// hashes.
struct S3Prints: Sendable {
    private var whole = SHA256()
    /// Of the part that is being added.
    private var part = (sha256: SHA256(), md5: Insecure.MD5())
    private let layout: S3Parts
    /// Whether the hash of the first part is that of the whole.
    private var isOnePart: Bool { layout.count <= 1 }
    /// Of the first part.
    private var first = Array(SHA256.hash(data: [UInt8]()))
    private var partCount = 0
    private var ofSHA256 = SHA256()
    private var ofMD5 = Insecure.MD5()
    /// Of the first part: of the whole, if there is one alone.
    private var firstMD5 = UploadSource.hexadecimal(Insecure.MD5.hash(data: [UInt8]()))

    init(_ layout: S3Parts) { self.layout = layout }

    /// Reads the next part of a file.
    /// - Returns: these hashes with it, and its SHA-256, hexadecimal.
    func adding(_ number: Int, of source: UploadSource) async throws -> (prints: S3Prints, sha256: String) {
        var prints = self
        let range = layout.range(of: number)
        for offset in stride(from: range.lowerBound, to: range.upperBound, by: Self.pieceByteCount) {
            let count = min(Int64(Self.pieceByteCount), range.upperBound - offset)
            prints.add(try await source.bytes(at: offset, count: Int(count)))
        }
        let sha256 = prints.endPart()
        return (prints, sha256)
    }

    private static let pieceByteCount = 1 << 20

    /// Adds what continues the part.
    mutating func add(_ bytes: [UInt8]) {
        part.sha256.update(data: bytes)
        part.md5.update(data: bytes)
        if !isOnePart { whole.update(data: bytes) }
    }

    /// Ends the part.
    /// - Returns: its SHA-256, hexadecimal.
    mutating func endPart() -> String {
        let (sha256, md5) = (part.sha256.finalize(), part.md5.finalize())
        part = (SHA256(), Insecure.MD5())
        if isOnePart { first = Array(sha256) }
        ofSHA256.update(data: Array(sha256))
        ofMD5.update(data: Array(md5))
        partCount += 1
        if partCount == 1 { firstMD5 = UploadSource.hexadecimal(md5) }
        return UploadSource.hexadecimal(sha256)
    }

    /// Of all that was added, hexadecimal.
    var sha256: String { UploadSource.hexadecimal(digest) }

    private var digest: [UInt8] { isOnePart ? first : Array(whole.finalize()) }

    /// Whether the server's own hashes are those of these bytes; nil: it shows none that decides.
    ///
    /// The `ETag` is computed by each server: the MD5 of the bytes, or of the parts' MD5, unless it encrypts. A checksum may be what the
    /// request said, and counts only where the `ETag` is nothing of that kind.
    /// - Parameter checksum: `x-amz-checksum-sha256`, in base64, with the number of parts after it or without.
    func match(tag: String?, checksum: String?) -> Bool? {
        let tag = tag?.filter { $0 != "\"" }.lowercased() ?? ""
        let tags = ["\(UploadSource.hexadecimal(ofMD5.finalize()))-\(partCount)"] + (partCount < 2 ? [firstMD5] : [])
        if tags.contains(tag) { return true }
        let isMD5 = tag.prefix { $0 != "-" }.utf8.count == 32 && tag.allSatisfy { $0.isHexDigit || $0 == "-" }
        guard let checksum, !isMD5 else { return nil }
        let possible = [Data(digest), Data(ofSHA256.finalize())].map { $0.base64EncodedString() }
        return possible.contains(String(checksum.prefix { $0 != "-" }))
    }
}
