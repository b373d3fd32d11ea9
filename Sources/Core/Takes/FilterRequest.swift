/// A cutoff frequency as a person asks for it.
public enum Cutoff: Hashable, Sendable {
    /// 0.45 of the card's rate: harmless whatever the rate.
    case automatic
    /// No filter.
    case off
    /// A frequency in hertz, where the response is down by 3.01 dB.
    case hertz(Double)
}

/// The capture filter as a person asks for it, before the card's rate is known.
public struct FilterRequest: Hashable, Sendable {
    /// The low-pass.
    public var lowPass: Cutoff
    /// The high-pass; never `.automatic`.
    public var highPass: Cutoff
    /// 12, 24, 36 or 48: Butterworth of order 2, 4, 6 or 8.
    public var slopeDBPerOctave: Int

    /// The slopes there are, in dB an octave.
    public static let slopes = [12, 24, 36, 48]

    /// A low-pass and an optional high-pass of one slope.
    public init(lowPass: Cutoff = .automatic, slopeDBPerOctave: Int = 24, highPass: Cutoff = .off) {
        self.lowPass = lowPass
        self.slopeDBPerOctave = slopeDBPerOctave
        self.highPass = highPass
    }
}
