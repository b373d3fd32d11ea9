import Takes

/// The true rate of a card, measured by its stamps.
///
/// A stamp can only be late: the card had sampled its frames by then, perhaps earlier. So the line through the least
/// late stamp of the first third and that of the last third has the card's rate. The possible error comes from the
/// median lateness in these two thirds, and from the distance between the line and the least late stamp of each ninth.
/// The second part detects a sudden loss of frames, which must not count as a rate.
public struct RateMeasure: Hashable, Sendable {
    /// The stated rate, in frames a second.
    public var statedHz: Int
    /// The difference to the stated rate, in millionths; positive if the card is faster.
    public var offsetPPM: Double
    /// The possible error of the offset, in millionths.
    public var errorPPM: Double

    /// From this offset on, the card's rate is wrong. Crystals are off by 100 millionths at most.
    public static let mostOffsetPPM = 1000.0
    /// The spans of the measurement, which begins `settling` after the card was started. If the stamps are too late for
    /// a verdict, a longer span is measured.
    static let spans: [Duration] = [.seconds(9), .seconds(30), .seconds(60)]
    static let settling = Duration.seconds(1)

    /// Frames and nanoseconds since the first stamp.
    private struct Point {
        var frames: Double
        var at: Double
        var nanosecondsPerFrame: Double { at / frames }
    }

    public init(statedHz: Int, offsetPPM: Double, errorPPM: Double) {
        self.statedHz = statedHz
        self.offsetPPM = offsetPPM
        self.errorPPM = errorPPM
    }

    /// Measures the rate between the first and the last stamp. Returns nil if there are too few stamps.
    /// - Parameter stamps: the stamps of a card that ran without interruption, in order.
    init?(_ stamps: [Stamp], statedHz: Int) {
        guard stamps.count >= 6, let first = stamps.first, let last = stamps.last, last.position > first.position else {
            return nil
        }
        let points = stamps.map { stamp in
            Point(
                frames: Double(stamp.position - first.position), at: Double(stamp.rawNanoseconds - first.rawNanoseconds)
            )
        }
        let ends = [points.prefix(points.count / 3), points.suffix(points.count / 3)]
        var nanoseconds = points[points.count - 1].nanosecondsPerFrame
        var error = 0.0
        // The slope decides which stamps are the least late, and these decide the slope.
        for _ in 0..<3 {
            func lateness(_ point: Point) -> Double { point.at - nanoseconds * point.frames }
            let sorted = ends.map { $0.sorted { lateness($0) < lateness($1) } }
            let (start, end) = (sorted[0][0], sorted[1][0])
            let between = Point(frames: end.frames - start.frames, at: end.at - start.at)
            guard between.at > 0, between.frames > 0 else { return nil }
            let spreads = sorted.map { lateness($0[$0.count / 2]) - lateness($0[0]) }
            nanoseconds = between.nanosecondsPerFrame
            let bends = (0..<9).compactMap { ninth in
                points[ninth * points.count / 9..<(ninth + 1) * points.count / 9].map(lateness).min()
            }.map { ($0 - lateness(start)).magnitude }
            error = max(spreads[0], spreads[1], 2 * (bends.max() ?? 0)) / between.at
        }
        self.init(
            statedHz: statedHz, offsetPPM: (1e9 / nanoseconds / Double(statedHz) - 1) * 1e6, errorPPM: error * 1e6)
    }

    /// Whether the card certainly runs at another rate than it states.
    public var isWrong: Bool { offsetPPM.magnitude >= Self.mostOffsetPPM && isSure }
    /// Whether the offset is known well enough for a verdict.
    public var isSure: Bool { errorPPM <= max(Self.mostOffsetPPM, offsetPPM.magnitude) / 2 }

    /// The true rate, rounded by less than a tenth of the offset.
    public var trueHz: Int {
        let offset = Double(statedHz) * offsetPPM / 1e6
        var step = 1.0
        while step * 100 <= offset.magnitude { step *= 10 }
        return Int(((Double(statedHz) + offset) / step).rounded() * step)
    }

    /// The problem and the remedy.
    public var complaint: String {
        "states \(statedHz)\(Self.join)\(trueHz) Hz: takes have the wrong length and pitch: set another rate_hz, or use another "
            + "card"
    }

    private static let join = " Hz and runs at "
    /// Whether a sentence is a complaint about a card's rate.
    public static func isComplaint(_ sentence: String) -> Bool { sentence.contains(join) }
}

extension Ring {
    /// The rate of the open card by its last stamps, or nil if it is not known yet.
    public var measuredRate: RateMeasure? {
        var unsure: RateMeasure?
        for span in RateMeasure.spans {
            guard let measure = measuredRate(over: span, settling: RateMeasure.settling) else { break }
            if measure.isSure { return measure }
            unsure = measure
        }
        return unsure
    }

    /// The rate over the last `span`. Nil if the card has not run without interruption for this long since it was
    /// started and had settled.
    public func measuredRate(over span: Duration, settling: Duration) -> RateMeasure? {
        var number = stampNumber - 1
        guard let last = stamp(number: number) else { return nil }
        var stamps: [Stamp] = []
        while let stamp = stamp(number: number) {
            stamps.append(stamp)
            if last.rawNanoseconds - stamp.rawNanoseconds >= (span + settling).nanoseconds { break }
            guard case .running = stamp.kind else { break }
            number -= 1
        }
        guard let first = stamps.last, last.rawNanoseconds - first.rawNanoseconds >= (span + settling).nanoseconds
        else {
            return nil
        }
        let measured = stamps.reversed().filter { $0.rawNanoseconds - first.rawNanoseconds >= settling.nanoseconds }
        return RateMeasure(measured, statedHz: format.rateHz)
    }
}
