/// Bytes that are generated while they are sent. Not thread-safe.
public protocol ExportStream: Sendable {
    /// The number of all bytes, or nil if it is known only at the end.
    var byteCount: Int64? { get }

    /// The next piece, at most about 32 KiB. Empty if there is still work before the first bytes; nil at the end.
    /// - Throws: an error with one sentence. The bytes so far are then incomplete.
    mutating func next() throws -> [UInt8]?
}

/// Why a part of a take cannot be exported.
public struct ExportError: Error, Hashable, CustomStringConvertible {
    public enum Kind: Hashable, Sendable {
        /// The request is invalid.
        case usage
        /// The take is damaged or incomplete, or not of a kind that can be exported this way.
        case take
        /// This machine cannot make it.
        case machine
    }

    public var kind: Kind
    public var description: String

    init(_ kind: Kind, _ description: String) {
        self.kind = kind
        self.description = description
    }
}
