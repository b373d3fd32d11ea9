import Ring
import Takes

/// Where the frames of a take lie on `CLOCK_MONOTONIC_RAW`: the truest stamp of each half a minute, and how true it is.
///
/// A stamp can only be late: the card had sampled its frames by then, perhaps for a while. So the stamp of an interval that is the
/// least late against the line of the others is the truest one. The line's slope is how far the card's crystal is off. Frames that
/// were lost without a report raise the line, which `SuspectedLosses` finds.
///
/// Stamps from before the take's first frame show the slope and the level of the line: with them, a loss soon after the start is
/// seen as well as a later one. No point and no loss of theirs is reported.
///
/// The error of a point is one frame, plus how far half of its interval's seconds lie above it, plus how far it lies
/// above the line from the point before. The time from the sound to the card's own counter is not part of it.
struct ClockMap: Sendable {
    /// A frame of the take and when it was sampled.
    struct Point: Hashable, Sendable {
        var frame: TakeFrame
        var rawNanoseconds: Int64
        var instant: Instant
        var errorMicroseconds: Int64
    }

    /// What stamps have shown.
    enum Finding: Sendable {
        case point(Point)
        case loss(Sidecar.SuspectedLoss)
    }

    /// Seconds of the first interval, which ends early so that a short take has two points, and of the others.
    private static let firstInterval = 10
    private static let interval = 30
    /// Of a point that has few others beside it.
    private static let fewStampsMilliseconds = 1.0

    private let millisecondsPerFrame: Double
    private var origin: ClockFloor?
    /// The truest stamp of the second under way.
    private var second: ClockFloor?
    private var losses: SuspectedLosses
    /// How fast the line rises, in milliseconds a second, as far as it is known.
    private var slope = 0.0
    /// The seconds of the interval under way that were judged.
    private var interval: [SuspectedLosses.Judged] = []
    private var lastPoint: SuspectedLosses.Judged?

    /// A map without a point yet.
    /// - Parameter rateHz: of the take.
    init(rateHz: Int) {
        millisecondsPerFrame = 1000 / Double(max(1, rateHz))
        losses = SuspectedLosses(millisecondsPerFrame: millisecondsPerFrame)
    }

    /// How much faster than its nominal rate the card ran, in millionths; nil: it is not known, from stamps of less than 10 s.
    var driftPPM: Double? { losses.drift.map { -$0 * 1000 } }

    /// Adds the next stamp of a card that went on.
    /// - Parameter frame: the frame of the take at the stamp's position; negative before the take.
    mutating func add(_ stamp: Stamp, at frame: TakeFrame) -> [Finding] {
        let floor = floor(stamp, at: frame)
        guard let best = second else {
            second = floor
            return []
        }
        let isFirstOfTake = best.frame < .first && floor.frame >= .first
        guard isFirstOfTake || floor.at.rounded(.down) > best.at.rounded(.down) else {
            if floor.offset - slope * floor.at < best.offset - slope * best.at { second = floor }
            return []
        }
        second = floor
        let news = losses.add(best)
        slope = losses.slope ?? 0
        return findings(news)
    }

    /// Known frames were lost, or the card was started again: what follows lies on another line of the same slope.
    mutating func beginLine() -> [Finding] {
        let rest = endSecond()
        return rest + findings(losses.beginLine())
    }

    /// The last point of a take that ends here, or may go on.
    mutating func finish() -> [Finding] {
        var found = endSecond() + findings(losses.finish())
        let isOnly = lastPoint == nil && interval.count > 1
        if isOnly {
            let all = interval
            interval = Array(all[..<(all.count / 2)])
            found += closeInterval()
            interval = Array(all[(all.count / 2)...])
        }
        return found + closeInterval()
    }

    private mutating func endSecond() -> [Finding] {
        guard let best = second else { return [] }
        second = nil
        return findings(losses.add(best))
    }

    private mutating func floor(_ stamp: Stamp, at frame: TakeFrame) -> ClockFloor {
        let raw = stamp.rawNanoseconds
        guard let origin else {
            let first = ClockFloor(frame: frame, rawNanoseconds: raw, instant: stamp.instant, at: 0, offset: 0)
            origin = first
            return first
        }
        let elapsed = Double(raw - origin.rawNanoseconds) / 1e6
        return ClockFloor(
            frame: frame, rawNanoseconds: raw, instant: stamp.instant, at: elapsed / 1000,
            offset: elapsed - Double(frame - origin.frame) * millisecondsPerFrame)
    }

    private mutating func findings(_ news: SuspectedLosses.News) -> [Finding] {
        // What may have been lost before the take's first frame is no loss of the take.
        var found = news.losses.filter { $0.afterFrame >= .first }.map(Finding.loss)
        for judged in news.judged where judged.floor.frame >= .first {
            interval.append(judged)
            if interval.count >= (lastPoint == nil ? Self.firstInterval : Self.interval) { found += closeInterval() }
        }
        return found
    }

    /// The point of the interval under way, which then begins again.
    private mutating func closeInterval() -> [Finding] {
        let slope = losses.drift ?? slope
        func late(_ judged: SuspectedLosses.Judged) -> Double { judged.offset - slope * judged.floor.at }
        let sorted = interval.sorted { late($0) < late($1) }
        interval = []
        guard let truest = sorted.first, let last = sorted.last else { return [] }
        var error = millisecondsPerFrame
        if sorted.count >= 4 {
            error += late(sorted[sorted.count / 2]) - late(truest)
        } else {
            error += late(last) - late(truest) + Self.fewStampsMilliseconds
        }
        if let lastPoint { error += max(0, late(truest) - late(lastPoint)) }
        lastPoint = truest
        let floor = truest.floor
        return [
            .point(
                Point(
                    frame: floor.frame, rawNanoseconds: floor.rawNanoseconds, instant: floor.instant,
                    errorMicroseconds: Int64((error * 1000).rounded(.up))))
        ]
    }
}

/// The truest stamp of a second.
struct ClockFloor: Sendable {
    /// The frame of the take at the stamp; negative before the take.
    var frame: TakeFrame
    var rawNanoseconds: Int64
    var instant: Instant
    /// Seconds since the first stamp.
    var at: Double
    /// How much later than nominal the stamp is, in milliseconds: the crystal, the lateness, and lost frames.
    var offset: Double
}
