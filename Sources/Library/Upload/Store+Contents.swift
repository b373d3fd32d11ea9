import Digests

/// An object is longer than the limit.
private struct TooLong: Error {}

extension Store {
    /// What the store has of an object, or nil if it has nothing or does not let this kit look.
    package func look(at object: ObjectName) async throws -> StoredObject? {
        do {
            return try await head(object)
        } catch let error as StoreError where error.problem == .hidden {
            return nil
        }
    }

    /// Reads a small object.
    /// - Parameter limit: the most bytes that it can have; no more are read.
    /// - Returns: its bytes; nil: it is longer.
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

    /// Reads an object back, for its hash.
    /// - Parameter byteCount: how long the store says that it is; no more is read.
    /// - Returns: hexadecimal.
    /// - Throws: also `.damaged`, if it is longer.
    package func sha256(of object: ObjectName, byteCount: Int64) async throws -> String {
        var hash = BoundedHash(byteCount: byteCount)
        try await get(object) { piece in
            try hash.update(piece, of: "outbox: \(name): \(object)")
        }
        return hash.text
    }
}

/// The hash of a file that is read back, with a limit: a server's answer may have no end.
package struct BoundedHash {
    private var hash = Digest(.sha256)
    private var left: Int64

    /// - Parameter byteCount: how long it is said to be.
    package init(byteCount: Int64) { left = byteCount }

    /// Adds bytes.
    /// - Parameter subject: what a sentence is about.
    /// - Throws: `StoreError`, `.damaged`, if there are more than there should be.
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
