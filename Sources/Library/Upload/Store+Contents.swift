import Digests

private struct TooLong: Error {}

extension Store {
    /// The object's state, or nil if it does not exist or the store does not let this kit look.
    package func look(at object: ObjectName) async throws -> StoredObject? {
        do {
            return try await head(object)
        } catch let error as StoreError where error.problem == .hidden {
            return nil
        }
    }

    /// Reads a small object.
    /// - Parameter limit: the most bytes to read.
    /// - Returns: its bytes, or nil if it is longer.
    package func contents(of object: ObjectName, limit: Int) async throws -> [UInt8]? {
        var bytes: [UInt8] = []
        do {
            try await get(object) { piece in
                guard piece.count <= limit - bytes.count else { throw TooLong() }
                bytes += piece
            }
        } catch is TooLong {
            return nil
        }
        return bytes
    }

    /// Reads an object back to hash it.
    /// - Parameter byteCount: the length that the store states; no more is read.
    /// - Returns: the hash in hexadecimal.
    /// - Throws: also `.damaged` if the object is longer.
    package func sha256(of object: ObjectName, byteCount: Int64) async throws -> String {
        var hash = BoundedHash(byteCount: byteCount)
        try await get(object) { piece in
            try hash.update(piece, of: "outbox: \(name): \(object)")
        }
        return hash.text
    }
}

/// The hash of a file that is read back, with a limit because a server's answer may be endless.
package struct BoundedHash {
    private var hash = Digest(.sha256)
    private var left: Int64

    /// - Parameter byteCount: the stated length.
    package init(byteCount: Int64) { left = byteCount }

    /// - Parameter subject: the beginning of an error sentence.
    /// - Throws: `StoreError`, `.damaged` if there are more bytes than stated.
    package mutating func update(_ bytes: [UInt8], of subject: String) throws {
        left -= Int64(bytes.count)
        guard left >= 0 else {
            throw StoreError(.damaged, "\(subject): is longer than the server says: see its server")
        }
        hash.update(bytes)
    }

    /// Hexadecimal.
    package var text: String { hash.bytes.hexadecimal }
}
