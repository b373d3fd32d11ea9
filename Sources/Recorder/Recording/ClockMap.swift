import Ring
import Takes

/// Maps the frames of a take to `CLOCK_MONOTONIC_RAW`: keeps the most accurate stamp of each half minute, and its
/// error.
///
/// A stamp can only be late: the card had sampled its frames by then, perhaps for a while. So the most accurate stamp
/// of an interval is the one that is least late relative to the line through the others. The slope of the line is the
/// card's clock drift. Frames that were lost without a report raise the line, which `SuspectedLosses` detects.
///
/// Stamps before the take's first frame show the slope and the level of the line. With them, a loss soon after the
/// start is detected as reliably as a later one. They produce no points, and their losses are not reported.
///
/// The error of a point is the sum of one frame, the median height of its interval's seconds above it, and its height
/// above the line through the previous point. It does not include the latency from the sound to the card's own counter.
struct ClockMap: Sendable {
    /// A frame of the take and its sample time.
    struct Point: Hashable, Sendable {
        var frame: TakeFrame
        var rawNanoseconds: Int64
        var instant: Instant
        var errorMicroseconds: Int64
    }

    enum Finding: Hashable, Sendable {
        case point(Point)
        case loss(Sidecar.SuspectedLoss)
    }

    /// Length of the first interval in seconds, and of the others. The first is short so that a short take has two
    /// points.
    private static let firstInterval = 10
    private static let interval = 30
    /// Added to the error of a point from few stamps.
    private static let fewStampsMilliseconds = 1.0

    private let millisecondsPerFrame: Double
    private var origin: ClockFloor?
    /// The most accurate stamp of the current second.
    private var second: ClockFloor?
    private var losses: SuspectedLosses
    /// The line's slope in milliseconds per second, as far as it is known.
    private var slope = 0.0
    /// The judged seconds of the current interval.
    private var interval: [SuspectedLosses.Judged] = []
    private var lastPoint: SuspectedLosses.Judged?

    /// - Parameter rateHz: the take's rate.
    init(rateHz: Int) {
        millisecondsPerFrame = 1000 / Double(max(1, rateHz))
        losses = SuspectedLosses(millisecondsPerFrame: millisecondsPerFrame)
    }

    /// How much faster than its nominal rate the card ran, in parts per million, or nil if it is not known. It needs
    /// stamps over 10 s.
    var driftPPM: Double? { losses.drift.map { -$0 * 1000 } }

    /// Adds the next stamp of a card that ran without interruption.
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

    /// Begins another line of the same slope, after reported losses or a restart of the card.
    mutating func beginLine() -> [Finding] {
        let rest = endSecond()
        return rest + findings(losses.beginLine())
    }

    /// Returns the last point of a take that ends here, or may continue.
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
        // Losses before the take's first frame are not the take's.
        var found = news.losses.filter { $0.afterFrame >= .first }.map(Finding.loss)
        for judged in news.judged where judged.floor.frame >= .first {
            interval.append(judged)
            if interval.count >= (lastPoint == nil ? Self.firstInterval : Self.interval) { found += closeInterval() }
        }
        return found
    }

    /// Returns the point of the current interval, and begins the next one.
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

/// The most accurate stamp of a second.
struct ClockFloor: Sendable {
    /// The frame of the take at the stamp; negative before the take.
    var frame: TakeFrame
    var rawNanoseconds: Int64
    var instant: Instant
    /// Seconds since the first stamp.
    var at: Double
    /// The stamp's delay relative to the nominal rate, in milliseconds: drift, lateness and lost frames.
    var offset: Double
}
