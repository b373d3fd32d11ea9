/// The line along which a card's earliest stamps lie, followed by a Kalman filter.
///
/// Its state is where the floor is, in milliseconds of lateness, and how fast it rises, in milliseconds a second: the crystal.
struct FrameFloor {
    private(set) var isLaid = false
    private var at = 0.0
    private var height = 0.0
    private var slope = 0.0
    /// Milliseconds lost on this line.
    private(set) var missing = 0.0

    /// The covariance of height and slope.
    private var hh = 0.0
    private var hs = 0.0
    private var ss = Self.square(Self.unknownSlope)
    /// The variance of the earliest stamp of a moment, as it was of late.
    private var noise = Self.square(0.05)

    /// Of a crystal that nothing is known of: twice this is 200 millionths.
    private static let unknownSlope = 0.1
    /// Of a crystal that was heard before, and may be warmer now.
    private static let knownSlope = 0.005
    /// Of a line that is no honest crystal's.
    private static let wildSlope = 2.0
    /// How far a crystal's slope wanders in a second: some millionths in an hour.
    private static let slopeWander = square(0.05e-3)
    private static let heightWander = square(0.002)
    /// A fall by more, in milliseconds, is no matter of the slope.
    private static let steepestFall = -5.0
    private static let leastNoise = square(0.01)
    private static let mostNoise = square(0.5)

    private static func square(_ value: Double) -> Double { value * value }

    init(driftPPM: Double?) {
        guard let driftPPM else { return }
        slope = -driftPPM / 1000
        ss = Self.square(Self.knownSlope)
    }

    /// How much faster than nominal the card is, in millionths.
    var driftPPM: Double { -slope * 1000 }
    /// The standard deviation of that.
    var driftUncertaintyPPM: Double { ss.squareRoot() * 1000 }

    /// Where the floor is at a second of the line, in milliseconds.
    func offset(at second: Double) -> Double {
        height + slope * (second - at)
    }

    /// The standard deviation of that.
    func uncertainty(at second: Double) -> Double {
        let ahead = max(0, second - at)
        return max(0, hh + 2 * ahead * hs + ahead * ahead * ss).squareRoot()
    }

    /// A point as it would be with a crystal that is exact, as far as it is known.
    func slopeless(_ point: FrameClock.Point) -> Double {
        point.offset - slope * point.at
    }

    /// Forgets where the floor is, and keeps the crystal.
    mutating func beginLine() {
        isLaid = false
        missing = 0
        ss += Self.square(Self.knownSlope)
        if ss > Self.square(Self.unknownSlope) {
            slope = 0
            ss = Self.square(Self.unknownSlope)
        }
    }

    /// Forgets the height and the crystal, but not the losses: why the floor is elsewhere is not known.
    mutating func tearUp() {
        isLaid = false
        ss = Self.square(Self.wildSlope)
    }

    /// Begins at a point.
    /// - Parameter spacing: how much later the next stamp of its moment was, in milliseconds.
    mutating func lay(at point: FrameClock.Point, spacing: Double) {
        isLaid = true
        at = point.at
        height = point.offset
        hh = max(Self.square(0.15), noise, Self.square(spacing))
        hs = 0
    }

    /// Follows to the earliest point of a moment.
    /// - Parameter spacing: how much later the next stamp of its moment was, in milliseconds.
    mutating func take(_ point: FrameClock.Point, spacing: Double) {
        advance(to: point.at)
        let noise = max(noise, Self.square(spacing))
        let surprise = point.offset - offset(at: point.at)
        var spread = hh + noise
        if surprise < 0, surprise * surprise > 9 * spread {
            // It cannot be early, so something has changed.
            hh += surprise * surprise
            if surprise > Self.steepestFall { ss += min(surprise * surprise, 1) }
            spread = hh + noise
        } else {
            let unexplained = max(0, surprise * surprise - (spread - noise))
            self.noise += 0.05 * (min(unexplained, 9 * noise) - self.noise)
            self.noise = min(max(self.noise, Self.leastNoise), Self.mostNoise)
        }
        let (h, s) = (hh / spread, hs / spread)
        height += h * surprise
        slope += s * surprise
        hh -= h * h * spread
        hs -= h * s * spread
        ss -= s * s * spread
    }

    private mutating func advance(to second: Double) {
        let ahead = max(0, second - at)
        at = max(at, second)
        height += slope * ahead
        hh += 2 * ahead * hs + ahead * ahead * ss + Self.heightWander * ahead
        hh += Self.slopeWander * ahead * ahead * ahead / 3
        hs += ahead * ss + Self.slopeWander * ahead * ahead / 2
        ss += Self.slopeWander * ahead
    }

    /// Frames were lost: the floor is higher.
    mutating func rise(_ milliseconds: Double) {
        height += milliseconds
        missing += milliseconds
    }

    /// So much of what was thought to be lost was not.
    mutating func give(back milliseconds: Double) {
        missing -= milliseconds
    }
}
