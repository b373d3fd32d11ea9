/// Bytes that are made while they are sent. For one thread at a time.
public protocol ExportStream: Sendable {
    /// How many bytes there are in all; nil: that is known only at the end.
    var byteCount: Int64? { get }

    /// The next piece: at most some 32 KiB, empty while there is still work before the first bytes; nil at the end.
    /// - Throws: what went wrong, in one sentence; then what was made so far is not whole.
    mutating func next() throws -> [UInt8]?
}

/// Why something of a take cannot be made.
public struct ExportError: Error, Hashable, CustomStringConvertible {
    /// What kind of reason it is.
    public enum Kind: Hashable, Sendable {
        /// The wish is wrong.
        case usage
        /// The take is not as it should be.
        case take
    }

    /// What kind of reason it is.
    public var kind: Kind
    /// One sentence.
    public var description: String

    init(_ kind: Kind, _ description: String) {
        self.kind = kind
        self.description = description
    }
}
