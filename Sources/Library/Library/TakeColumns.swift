public import Spectra

/// The files of columns of a take.
public struct TakeColumns: Sendable {
    /// The columns of each filtered part, in order, or nil for a part without a file.
    public var readers: [SpectraReader?]
    /// The fingerprints of the parts, or nil if one of them is not known yet.
    public var sounds: [String]?
    /// The share of the take's sound whose columns are computed, 0 to 1.
    public var computed: Double
    /// Why a missing file is not being computed, or nil.
    public var obstacle: Obstacle?

    public enum Obstacle: Hashable, Sendable {
        /// The sound is damaged, as the sentence says.
        case damage(String)
        /// The sound or the columns cannot be stored or read.
        case failure(String)
        /// The file does not fit.
        case noRoom
    }
}
