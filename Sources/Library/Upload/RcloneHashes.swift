import Digests

/// The hashes of a file that remotes of rclone have, too.
struct RcloneHashes: Sendable {
    private var ofMD5 = Digest(.md5)
    private var ofSHA1 = Digest(.sha1)

    /// As rclone names them.
    static let names = ["md5", "sha1", "sha256"]

    mutating func update(_ bytes: [UInt8]) {
        ofMD5.update(bytes)
        ofSHA1.update(bytes)
    }

    /// Whether one of a remote's hashes is that of what was hashed. Hashes that are of something else say nothing: a bucket's
    /// MD5 of an object of parts may be of the parts.
    /// - Parameter sha256: of what was hashed.
    func match(_ hashes: [String: String], sha256: String) -> Bool {
        let own = [
            "md5": ofMD5.bytes.hexadecimal, "sha1": ofSHA1.bytes.hexadecimal,
            "sha256": sha256,
        ]
        return own.contains { name, hash in hashes[name] == hash }
    }
}
