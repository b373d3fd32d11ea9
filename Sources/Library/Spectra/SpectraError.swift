/// Why there is no spectrum: one sentence.
public struct SpectraError: Error, Hashable, CustomStringConvertible {
    public enum Kind: Hashable, Sendable {
        /// The request is invalid.
        case usage
        /// The file of columns is incomplete, damaged, or of another version. The remedy is to remove it and to compute
        /// it again from the sound.
        case file
        /// The sound differs from its description.
        case sound
    }

    public var kind: Kind
    public var description: String

    init(_ kind: Kind, _ description: String) {
        self.kind = kind
        self.description = description
    }
}
