/// The pitch and the speed of playback.
public struct Tuning: Hashable, Sendable {
    /// The change of pitch in hundredths of a semitone, independent of the speed; negative values lower it.
    public var pitchCents: Int
    /// The seconds of the take that are played in one second.
    public var speed: Double
    /// Whether the pitch also follows the speed (time expansion, as for bats).
    public var expands: Bool

    /// Two octaves down and up.
    public static let pitchRange = -2400...2400
    /// The pitches that the user interface offers first.
    public static let pitchPresets = [-1200, 0, 1200]
    public static let speedRange = 0.05...2

    /// The default is the take as it was recorded.
    public init(pitchCents: Int = 0, speed: Double = 1, expands: Bool = false) {
        self.pitchCents = pitchCents
        self.speed = speed
        self.expands = expands
    }
}
