public import Takes

/// The current levels of one channel.
public struct Level: Codable, Hashable, Sendable {
    /// The largest absolute sample, in dB of full scale; null for silence.
    @ExplicitNull public var peak: Double?
    /// The root mean square, in dB of full scale; null for silence.
    @ExplicitNull public var rms: Double?

    public init(peak: Double?, rms: Double?) {
        self.peak = peak
        self.rms = rms
    }

    public static func == (left: Level, right: Level) -> Bool {
        left.peak == right.peak && left.rms == right.rms
    }

    public func hash(into hasher: inout Hasher) {
        hasher.combine(peak)
        hasher.combine(rms)
    }
}
