import Takes

/// Finds where a card lost frames without a report: the floor of its stamps rises there, and never falls back.
///
/// Stamps that are late for a while raise the floor as well, but it falls back. So a rise counts only if the floor stays up for
/// `patience`, longer than any spell of late stamps that is known of. In the last 14 s of a take there is no such time: there, a
/// rise counts if it is as high as one that was found before in the same take, and in the last 3 to 5 s none does. A rise by less
/// than 0.4 ms, or by less than four times what the floors of seconds usually lie above the line or differ from one to the next, is
/// not seen. As long as the slope is not known well, which takes half a minute without a loss, a rise must be higher by what the
/// slope's error may make of it. Losses that follow one another within 2 s may be found as one.
///
/// The frames of a loss are missing between two stamps that are up to 2 s apart, and more if late ones lie around it. Its confidence
/// says how far the rise is above what chance does, and how long the floor stayed up.
struct SuspectedLosses: Sendable {
    /// A second whose losses are known.
    struct Judged {
        var floor: ClockFloor
        /// Its offset without the losses before it, in milliseconds.
        var offset: Double
    }

    /// What another second has shown.
    struct News {
        var judged: [Judged] = []
        var losses: [Sidecar.SuspectedLoss] = []
    }

    /// How long the floor must stay up, in seconds, and how long at the end of a take.
    private static let patience = 12.0
    private static let lastPatience = 3.0
    private static let leastMilliseconds = 0.4
    /// A rise may take so many seconds.
    private static let riseSeconds = 3.0
    /// Seconds that are kept: for the slope at first, and for the usual height.
    private static let kept = 60
    private static let group = 30

    private let millisecondsPerFrame: Double
    /// Seconds that are not judged yet.
    private var waiting: [ClockFloor] = []
    /// The last judged ones, and the floor's level at each: the truest second of the time from it on.
    private var recent: [(floor: ClockFloor, level: ClockFloor)] = []
    /// How many of `recent`, from its end, lie on the line under way, and how many of those behind the last loss.
    private var sinceLine = 0
    private var sinceLoss = 0
    /// The first and the last judged seconds of the take.
    private var first: [Judged] = []
    private var last: [Judged] = []
    /// By how many milliseconds the line under way lies above the first one.
    private var lost = 0.0
    private var lastRise: Double?
    private var isNewLine = false

    init(millisecondsPerFrame: Double) {
        self.millisecondsPerFrame = millisecondsPerFrame
    }

    /// How fast the floor rose over the whole take, without losses, in milliseconds a second; nil: it is not known to 50 millionths.
    var drift: Double? { slope(over: 9).flatMap { $0.error <= 0.05 ? $0.slope : nil } }

    /// The same for the seconds that come next; nil: it is not known.
    ///
    /// A slope over a time with losses depends on how high they were, and that on the slope. So after a loss the steps from one
    /// second to the next count, of which most have none.
    var slope: Double? { line?.slope }

    /// The slope, and how wrong it may be.
    private var line: (slope: Double, error: Double)? {
        if lastRise == nil, let ends = slope(over: 30) { return (ends.slope, 0) }
        let steps = steps
        return steps.count < 8 ? nil : (steps.usual, 3 * steps.spread / Double(steps.count).squareRoot())
    }

    /// The slope from the truest second of the beginning to the truest one of the end. It may be wrong by as much as half of the
    /// seconds around them lie above them.
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

    /// The steps from one second to the next, in milliseconds a second: their median, without those that are far from it, and how
    /// far half of them are from it.
    private var steps: (usual: Double, spread: Double, count: Int) {
        let floors = recent.suffix(sinceLine).map(\.floor) + waiting
        let steps = zip(floors, floors.dropFirst()).map { ($1.offset - $0.offset) / max(0.1, $1.at - $0.at) }.sorted()
        guard !steps.isEmpty else { return (0, 0, 0) }
        let median = steps[steps.count / 2]
        let spread = steps.map { abs($0 - median) }.sorted()[steps.count / 2]
        let near = steps.filter { abs($0 - median) <= 4 * spread + Self.leastMilliseconds / 4 }
        return (near[near.count / 2], spread, steps.count)
    }

    /// Adds the truest stamp of the next second.
    mutating func add(_ floor: ClockFloor) -> News {
        waiting.append(floor)
        var news = News()
        while let oldest = waiting.first, floor.at - oldest.at >= Self.patience { judge(&news) }
        return news
    }

    /// Another line begins: what was not judged yet is taken as it is.
    mutating func beginLine() -> News {
        var news = News()
        while !waiting.isEmpty { pass(waiting.removeFirst(), &news) }
        recent = []
        sinceLoss = 0
        sinceLine = 0
        isNewLine = true
        return news
    }

    /// Judges what is there at the end of a take.
    mutating func finish() -> News {
        var news = News()
        guard let end = waiting.last else { return news }
        if let lastRise {
            // Seconds behind the last loss that is found may be judged again, if the take goes on.
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
    /// - Parameter like: a rise counts only if it is as high as this.
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
        // The truest stamp of the second in which frames were lost may lie between the levels: the next second has the whole rise.
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
            // The lines are apart by what was filled, to the lateness of the stamps around it.
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
