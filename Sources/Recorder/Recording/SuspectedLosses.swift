import Takes

/// Detects frames that a card lost without a report: the floor of its stamps rises there, and never falls back.
///
/// Stamps that are late for a while raise the floor as well, but it falls back. So a rise counts only if the floor
/// stays up for `patience`, which is longer than any known spell of late stamps. The last 14 s of a take are too short
/// for this. There, a rise counts if it is as high as an earlier one in the same take; in the last 3 to 5 s none
/// counts. A rise is not detected if it is less than 0.4 ms, or less than four times the usual height of the seconds'
/// floors above the line or difference between consecutive floors. While the slope is not known well, which takes half
/// a minute without a loss, a rise must exceed this threshold by the effect of the slope's possible error. Losses
/// within 2 s of each other may be found as one.
///
/// The frames of a loss are missing between two stamps that are up to 2 s apart, or more if late stamps lie around it.
/// Its confidence expresses how far the rise exceeds chance, and how long the floor stayed up.
struct SuspectedLosses: Sendable {
    /// A second whose losses are known.
    struct Judged {
        var floor: ClockFloor
        /// Its offset without the earlier losses, in milliseconds.
        var offset: Double
    }

    /// The findings from one more second.
    struct News {
        var judged: [Judged] = []
        var losses: [Sidecar.SuspectedLoss] = []
    }

    /// How long the floor must stay up, in seconds, and how long at the end of a take.
    private static let patience = 12.0
    private static let lastPatience = 3.0
    private static let leastMilliseconds = 0.4
    /// A rise may take this many seconds.
    private static let riseSeconds = 3.0
    /// The number of seconds that are kept for the first slope and for the usual height, and the size of a group at
    /// either end of the take.
    private static let kept = 60
    private static let group = 30

    private let millisecondsPerFrame: Double
    /// Seconds that are not judged yet.
    private var waiting: [ClockFloor] = []
    /// The last judged seconds, each with the floor's level: the most accurate second from it on.
    private var recent: [(floor: ClockFloor, level: ClockFloor)] = []
    /// How many of the last entries of `recent` lie on the current line, and how many of those after the last loss.
    private var sinceLine = 0
    private var sinceLoss = 0
    /// The first and the last judged seconds of the take.
    private var first: [Judged] = []
    private var last: [Judged] = []
    /// The height of the current line above the first one, in milliseconds.
    private var lost = 0.0
    private var lastRise: Double?
    private var isNewLine = false

    init(millisecondsPerFrame: Double) {
        self.millisecondsPerFrame = millisecondsPerFrame
    }

    /// How fast the floor rose over the whole take, without losses, in milliseconds per second. Nil if its error
    /// exceeds 50 ppm.
    var drift: Double? { slope(over: 9).flatMap { $0.error <= 0.05 ? $0.slope : nil } }

    /// The slope for the next seconds, or nil if it is not known.
    ///
    /// Over a time with losses, slope and loss size depend on each other. So after a loss the slope is computed from
    /// the steps between consecutive seconds, most of which contain no loss.
    var slope: Double? { line?.slope }

    /// The slope and its possible error.
    private var line: (slope: Double, error: Double)? {
        if lastRise == nil, let ends = slope(over: 30) { return (ends.slope, 0) }
        let steps = steps
        return steps.count < 8 ? nil : (steps.usual, 3 * steps.spread / Double(steps.count).squareRoot())
    }

    /// The slope from the most accurate second of the beginning to that of the end. Its error bound is the median
    /// height of the neighbouring seconds above these two.
    private func slope(over seconds: Double) -> (slope: Double, error: Double)? {
        guard let start = first.first, let end = last.last, end.floor.at - start.floor.at >= seconds else { return nil }
        let step = steps.usual
        func truest(_ group: some Collection<Judged>) -> (second: Judged, late: Double) {
            let sorted = group.map { ($0, height: $0.offset - step * $0.floor.at) }.sorted { $0.height < $1.height }
            return (sorted[0].0, sorted[sorted.count / 2].height - sorted[0].height)
        }
        let third = max(1, min(first.count, last.count) / 3)
        let (a, b) = (truest(first.prefix(third)), truest(last.suffix(third)))
        let time = b.second.floor.at - a.second.floor.at
        guard time >= 5 else { return nil }
        return ((b.second.offset - a.second.offset) / time, max(a.late, b.late) / time)
    }

    /// The steps between consecutive seconds, in milliseconds per second: the median without outliers, and the median
    /// distance from the median.
    private var steps: (usual: Double, spread: Double, count: Int) {
        let floors = recent.suffix(sinceLine).map(\.floor) + waiting
        let steps = zip(floors, floors.dropFirst()).map { ($1.offset - $0.offset) / max(0.1, $1.at - $0.at) }.sorted()
        guard !steps.isEmpty else { return (0, 0, 0) }
        let median = steps[steps.count / 2]
        let spread = steps.map { abs($0 - median) }.sorted()[steps.count / 2]
        let near = steps.filter { abs($0 - median) <= 4 * spread + Self.leastMilliseconds / 4 }
        return (near[near.count / 2], spread, steps.count)
    }

    /// Adds the most accurate stamp of the next second.
    mutating func add(_ floor: ClockFloor) -> News {
        waiting.append(floor)
        var news = News()
        while let oldest = waiting.first, floor.at - oldest.at >= Self.patience { judge(&news) }
        return news
    }

    /// Begins another line. Seconds that were not judged yet are accepted without a search for losses.
    mutating func beginLine() -> News {
        var news = News()
        while !waiting.isEmpty { pass(waiting.removeFirst(), &news) }
        recent = []
        sinceLoss = 0
        sinceLine = 0
        isNewLine = true
        return news
    }

    /// Judges the remaining seconds at the end of a take.
    mutating func finish() -> News {
        var news = News()
        guard let end = waiting.last else { return news }
        if let lastRise {
            // If the take continues, seconds after the last loss that was found may be judged again.
            var trial = self
            var found = News()
            while let oldest = trial.waiting.first, end.at - oldest.at >= Self.lastPatience {
                trial.judge(&found, like: lastRise)
                if !found.losses.isEmpty {
                    self = trial
                    news.judged += found.judged
                    news.losses += found.losses
                    found = News()
                }
            }
        }
        while !waiting.isEmpty { pass(waiting.removeFirst(), &news) }
        return news
    }

    private mutating func pass(_ floor: ClockFloor, _ news: inout News) {
        settle(floor, level: floor)
        news.judged.append(judgedLast(floor))
    }

    /// Judges the oldest second.
    /// - Parameter like: if set, a rise counts only if it is about as high as this.
    private mutating func judge(_ news: inout News, like: Double? = nil) {
        let floor = waiting[0]
        let (slope, slopeError) = line ?? (0, Self.leastMilliseconds)
        func height(_ floor: ClockFloor) -> Double { floor.offset - slope * floor.at }
        let level = waiting.min { height($0) < height($1) } ?? floor
        let before = recent.suffix(sinceLoss).filter { floor.at - $0.floor.at <= Self.riseSeconds }
        let levelBefore = before.map(\.level).min { height($0) < height($1) } ?? level
        let base = height(levelBefore)
        let rise = height(level) - base
        let usual = recent.suffix(Self.group).map { height($0.floor) - height($0.level) }.sorted()
        let spread = usual.isEmpty ? 0 : usual[usual.count * 3 / 4]
        let threshold =
            max(Self.leastMilliseconds, 2.5 * millisecondsPerFrame, 4 * spread, 4 * steps.spread)
            + slopeError * max(1, level.at - levelBefore.at)
        // The most accurate stamp of the second in which frames were lost may lie between the two levels. The next
        // second has the whole rise.
        let next = waiting.dropFirst().map(height).min() ?? height(level)
        let isBegun = before.last.map { height($0.level) - base > rise / 4 } ?? true
        let isHalf = !isBegun && next - height(level) > rise / 4
        let isLike = like.map { abs(rise - $0) <= 0.25 * $0 } ?? true
        if rise > threshold, isLike, !isHalf {
            let after = recent.last { height($0.floor) <= base + rise / 2 }?.floor ?? before.last?.floor ?? floor
            let behind = waiting.first { height($0) <= base + 1.25 * rise + spread } ?? floor
            let stayed = min(1, ((waiting.last?.at ?? floor.at) - floor.at) / Self.patience)
            news.losses.append(
                Sidecar.SuspectedLoss(
                    afterFrame: after.frame, beforeFrame: behind.frame,
                    frames: Int64((rise / millisecondsPerFrame).rounded()),
                    confidence: (min(1, rise / (2 * threshold)) * stayed * 100).rounded() / 100))
            lost += rise
            lastRise = rise
            sinceLoss = 0
        }
        waiting.removeFirst()
        settle(floor, level: level)
        news.judged.append(judgedLast(floor))
    }

    private mutating func settle(_ floor: ClockFloor, level: ClockFloor) {
        if isNewLine {
            // The distance between the lines is the filled silence, within the lateness of the stamps around it.
            if let before = last.last {
                let drift = (floor.at - before.floor.at) * (slope ?? 0)
                lost = floor.offset - before.offset - drift
            }
            isNewLine = false
        }
        recent.append((floor, level))
        sinceLoss += 1
        sinceLine += 1
        if recent.count > Self.kept { recent.removeFirst() }
        let judged = judgedLast(floor)
        if first.count < Self.group { first.append(judged) }
        last.append(judged)
        if last.count > Self.group { last.removeFirst() }
    }

    private func judgedLast(_ floor: ClockFloor) -> Judged { Judged(floor: floor, offset: floor.offset - lost) }
}
