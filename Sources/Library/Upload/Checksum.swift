/// A hash or checksum that is computed from bytes in order.
public protocol Checksum: Sendable {
    mutating func update(_ bytes: [UInt8])
}

/// The hashes of a file's content.
struct ContentHashes: Sendable {
    /// In hexadecimal.
    var sha256: String
    /// The checksum that the store compares. Nil if it compares none, or if the SHA-256 was known without a read.
    var checksum: (any Checksum)?
}

extension UploadSource {
    /// Computes the SHA-256 and the store's checksum of the whole content in one read.
    /// - Throws: `StoreError`, `.unreadable`, also if the content changed since it was hashed.
    func hashes(for store: any Store) async throws -> ContentHashes {
        guard let wanted = store.wantedChecksum(byteCount: byteCount) else {
            return ContentHashes(sha256: try await sha256())
        }
        let checksum = try await checksum(wanted)
        return ContentHashes(sha256: try await sha256(), checksum: checksum)
    }

    /// The known checksum of the whole content. If it is not known, this reads the file.
    /// - Parameters:
    ///   - empty: the checksum of no bytes.
    ///   - known: the checksum of an earlier read, or nil.
    /// - Throws: `StoreError`, `.unreadable`, also if the content changed since it was hashed.
    package func checksum<Sum: Checksum>(_ empty: Sum, known: (any Checksum)?) async throws -> Sum {
        if let known = known as? Sum { return known }
        return try await checksum(empty)
    }
}
