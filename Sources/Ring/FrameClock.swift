/// Checks the frames that a card delivers against `CLOCK_MONOTONIC_RAW`, for drivers that drop frames without saying so.
///
/// It hears the stamps of one ring in their order. A stamp can only be late: the card had heard its frames by then, perhaps for
/// a while. So the earliest stamps of each moment make a floor, and the floor is a straight line: its slope is how far the
/// card's crystal is off. A floor that rises from one moment to the next and stays risen is a loss. It is told once it has
/// lasted for a second, and longer where the stamps' lateness varies so much that it might be that. A floor that rises
/// steadily is a slow crystal, and no loss. One that falls means that the card delivered more than it had time for: it is made
/// good by telling less of the next loss, up to what was told.
///
/// Stamps that tell of a loss themselves, or of a start, begin a new line; what is known of the crystal is kept.
public struct FrameClock: Sendable {
    /// An honest crystal is off by no more than this, in millionths.
    public static let honestPPM = 200.0

    let millisecondsPerFrame: Double
    private var origin: Stamp?
    var floor: FrameFloor
    var lateness = Lateness()
    var moment = Moment()
    var lastMoment: Moment?
    var rise: [Point] = []
    /// How late the last stamps before the rise were.
    var recent: [Double] = []
    /// The second of the line from when on the floor is not new.
    var strangeUntil = 0.0
    private var toldFrames: Int64 = 0
    /// Whether a loss was found that is not told yet.
    var isFound = false
    /// The position of the first stamp behind the loss that was told last: the frames are missing between it and the stamp before.
    public internal(set) var lossPosition: Int64 = 0
    var judgedAt = 0.0
    /// Seconds that were heard of the line.
    private var heard = 0.0
    /// Seconds heard in earlier lines.
    private var heardBefore = 0.0
    private var knownPPM: Double?

    /// A clock that has heard nothing yet.
    /// - Parameter driftPPM: what an earlier one found of the same card.
    public init(rateHz: Int, driftPPM: Double? = nil) {
        millisecondsPerFrame = 1000 / Double(max(1, rateHz))
        floor = FrameFloor(driftPPM: driftPPM)
        knownPPM = driftPPM
    }

    /// How much faster than its nominal rate the card is, in millionths; nil until it was heard long enough, 10 s or more.
    public var driftPPM: Double? {
        isSure ? floor.driftPPM : knownPPM
    }

    /// Whether the card is off by more than an honest crystal can be. Its takes are not filled for that.
    public var isOff: Bool {
        isSure && heardBefore + heard >= 20 && abs(floor.driftPPM) - 4 * floor.driftUncertaintyPPM > Self.honestPPM
    }

    private var isSure: Bool { heardBefore + heard >= 10 && floor.driftUncertaintyPPM < 10 }

    /// Hears the ring's next stamp.
    /// - Returns: how many frames are known now to be missing that nobody told of; 0: none. They were lost one to two seconds
    ///   before, in low jitter, and up to half a minute before in high: `lossPosition` tells where.
    public mutating func hear(_ stamp: Stamp) -> Int64 {
        guard case .running = stamp.kind else {
            beginLine()
            return 0
        }
        let origin = origin ?? stamp
        self.origin = origin
        let elapsed = Double(stamp.rawNanoseconds - origin.rawNanoseconds) / 1e6
        let point = Point(
            at: elapsed / 1000, offset: elapsed - Double(stamp.position - origin.position) * millisecondsPerFrame,
            position: stamp.position)
        follow(point)
        let missing = Int64((floor.missing / millisecondsPerFrame).rounded())
        guard isFound, missing > toldFrames else { return 0 }
        isFound = false
        let news = missing - toldFrames
        toldFrames = missing
        return news
    }

}

extension FrameClock {
    /// A stamp, on its line.
    struct Point {
        /// Seconds since the line's first stamp.
        var at: Double
        /// How much later the card heard its frames than it nominally should have, in milliseconds.
        var offset: Double
        /// The stamp's.
        var position: Int64
    }

    /// The earliest of some stamps.
    struct Moment {
        var count = 0
        var began = 0.0
        var least = Point(at: 0, offset: 0, position: 0)
        var leastLate = Double.infinity
        var nextLate = Double.infinity
    }

    private mutating func beginLine() {
        if isSure { knownPPM = floor.driftPPM }
        heardBefore += heard
        heard = 0
        origin = nil
        floor.beginLine()
        lateness.beginLine()
        moment = Moment()
        lastMoment = nil
        rise = []
        recent = []
        judgedAt = 0
        strangeUntil = 0
        toldFrames = 0
    }

    /// Follows the line to a point; what is found to be something else than it seemed is followed again.
    private mutating func follow(_ point: Point) {
        guard let again = step(point) else { return }
        var left = again
        var next = 0
        while next < left.count {
            let again = step(left[next])
            next += 1
            guard let again else { continue }
            left.replaceSubrange(..<next, with: again)
            next = 0
        }
    }

    /// - Returns: points to follow again; nil: none.
    private mutating func step(_ point: Point) -> [Point]? {
        guard floor.isLaid else {
            gather(point, late: floor.slopeless(point))
            return nil
        }
        let late = point.offset - floor.offset(at: point.at)
        guard late >= threshold(at: point.at) else {
            settleRise(at: point.at)
            lateness.note(late)
            remember(late)
            gather(point, late: late)
            return nil
        }
        rise.append(point)
        return judge()
    }

    /// A stamp later than this is late, or stands behind a loss; in milliseconds.
    func threshold(at second: Double) -> Double {
        max(0.4, 2.5 * millisecondsPerFrame, 4 * floor.uncertainty(at: second))
    }

    private mutating func remember(_ late: Double) {
        if recent.count == Self.recentStamps { recent.removeFirst() }
        recent.append(late)
    }

    /// The late stamps were just late.
    private mutating func settleRise(at second: Double) {
        guard let first = rise.first, let last = rise.last else { return }
        var least = Double.infinity
        for point in rise {
            let late = point.offset - floor.offset(at: point.at)
            lateness.note(late)
            remember(late)
            least = min(least, late)
        }
        lateness.noteSpell(of: least, seconds: last.at - first.at, at: second)
        moment.count += rise.count
        rise.removeAll(keepingCapacity: true)
        judgedAt = 0
    }
}

// MARK: - The floor

extension FrameClock {
    static let momentSeconds = 0.5
    private static let momentStamps = 4

    private mutating func gather(_ point: Point, late: Double) {
        if moment.leastLate == .infinity { moment.began = point.at }
        moment.count += 1
        if late < moment.leastLate {
            moment.nextLate = moment.leastLate
            moment.leastLate = late
            moment.least = point
        } else {
            moment.nextLate = min(moment.nextLate, late)
        }
        if point.at - moment.began >= Self.momentSeconds, moment.count >= Self.momentStamps { closeMoment() }
    }

    mutating func closeMoment() {
        guard moment.leastLate < .infinity else { return }
        let least = moment.least
        // The earliest stamps lie as far above the floor as they lie apart.
        let spacing = moment.nextLate < .infinity ? moment.nextLate - moment.leastLate : 0
        if floor.isLaid {
            let fall = floor.offset(at: least.at) - least.offset
            if fall > threshold(at: least.at) { descend(fall, at: least.at) }
            floor.take(least, spacing: spacing)
        } else {
            floor.lay(at: least, spacing: spacing)
        }
        heard = max(heard, least.at)
        lastMoment = moment
        moment = Moment()
    }

    /// Stamps cannot be early, so the floor is that low: what was thought to be lost came, or more than there was time for. It
    /// stands for what is lost next, but not where the floor was thought to be elsewhere for reasons unknown.
    private mutating func descend(_ fall: Double, at second: Double) {
        guard second >= strangeUntil else { return }
        floor.give(back: min(fall, floor.missing))
    }
}
