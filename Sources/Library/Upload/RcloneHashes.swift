import Digests

/// The hashes of a file that rclone remotes may also have.
struct RcloneHashes: Sendable {
    private var ofMD5 = Digest(.md5)
    private var ofSHA1 = Digest(.sha1)

    /// rclone's names of the hashes.
    static let names = ["md5", "sha1", "sha256"]

    mutating func update(_ bytes: [UInt8]) {
        ofMD5.update(bytes)
        ofSHA1.update(bytes)
    }

    /// Whether one of a remote's hashes equals a hash of the file. Other hashes are ignored: the MD5 that a bucket has
    /// for a multipart object may be a hash of the parts.
    /// - Parameter sha256: the SHA-256 of the file.
    func match(_ hashes: [String: String], sha256: String) -> Bool {
        let own = [
            "md5": ofMD5.bytes.hexadecimal, "sha1": ofSHA1.bytes.hexadecimal,
            "sha256": sha256,
        ]
        return own.contains { name, hash in hashes[name] == hash }
    }
}
