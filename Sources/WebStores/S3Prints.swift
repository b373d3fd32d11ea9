import Crypto
import FoundationEssentials
import Upload

/// What a server shows of the bytes that it has, if they are those of a file that was sent in parts: hashes of the whole, and of the parts'
/// hashes.
struct S3Prints: Sendable {
    private var whole = SHA256()
    /// Whether the hash of the first part is that of the whole.
    private let isOnePart: Bool
    /// Of the first part.
    private var first = Array(SHA256.hash(data: [UInt8]()))
    private var partCount = 0
    private var ofSHA256 = SHA256()
    private var ofMD5 = Insecure.MD5()
    /// Of the first part: of the whole, if there is one alone.
    private var firstMD5 = UploadSource.hexadecimal(Insecure.MD5.hash(data: [UInt8]()))

    init(_ parts: S3Parts) { isOnePart = parts.count <= 1 }

    /// Adds the next part.
    /// - Returns: its SHA-256, hexadecimal.
    mutating func add(_ part: [UInt8]) -> String {
        let sha256 = SHA256.hash(data: part)
        let md5 = Insecure.MD5.hash(data: part)
        if isOnePart { first = Array(sha256) } else { whole.update(data: part) }
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
