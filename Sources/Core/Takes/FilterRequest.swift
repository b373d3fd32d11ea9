/// A cutoff frequency that a person requests.
public enum Cutoff: Hashable, Sendable {
    /// 0.45 of the card's rate, which is harmless at any rate.
    case automatic
    case off
    /// A frequency in hertz, where the response is down by 3.01 dB.
    case hertz(Double)
}

/// The requested capture filter, before the card's rate is known.
public struct FilterRequest: Hashable, Sendable {
    public var lowPass: Cutoff
    /// Never `.automatic`.
    public var highPass: Cutoff
    /// 12, 24, 36 or 48: Butterworth of order 2, 4, 6 or 8.
    public var slopeDBPerOctave: Int

    /// The possible slopes, in dB an octave.
    public static let slopes = [12, 24, 36, 48]

    /// A low-pass and an optional high-pass with the same slope.
    public init(lowPass: Cutoff = .automatic, slopeDBPerOctave: Int = 24, highPass: Cutoff = .off) {
        self.lowPass = lowPass
        self.slopeDBPerOctave = slopeDBPerOctave
        self.highPass = highPass
    }
}
