/// How a take is played: at which pitch and at which speed.
public struct Tuning: Hashable, Sendable {
    /// How much higher the take sounds, in hundredths of a semitone; below 0: lower. Independent of the speed.
    public var pitchCents: Int
    /// Seconds of the take that are played in a second.
    public var speed: Double
    /// Whether the pitch follows the speed too (time expansion, as for bats), instead of being kept.
    public var expands: Bool

    /// The pitches that are possible: two octaves down and up.
    public static let pitchRange = -2400...2400
    /// The pitches that a person is offered first.
    public static let pitchPresets = [-1200, 0, 1200]
    /// The speeds that are possible.
    public static let speedRange = 0.05...2

    /// As the take was recorded, unless said otherwise.
    public init(pitchCents: Int = 0, speed: Double = 1, expands: Bool = false) {
        self.pitchCents = pitchCents
        self.speed = speed
        self.expands = expands
    }
}
