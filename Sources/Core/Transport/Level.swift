public import Takes

/// How loud one channel is now.
public struct Level: Codable, Hashable, Sendable {
    /// The greatest sample, in dB of full scale; null for silence.
    @ExplicitNull public var peak: Double?
    /// The root of the mean square, in dB of full scale; null for silence.
    @ExplicitNull public var rms: Double?

    /// A channel's levels in dBFS.
    public init(peak: Double?, rms: Double?) {
        self.peak = peak
        self.rms = rms
    }

    /// Equal in both figures.
    public static func == (left: Level, right: Level) -> Bool {
        left.peak == right.peak && left.rms == right.rms
    }

    /// Hashes both figures.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(peak)
        hasher.combine(rms)
    }
}
