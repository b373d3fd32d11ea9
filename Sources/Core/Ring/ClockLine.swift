import Takes

/// The time of each frame on `CLOCK_MONOTONIC_RAW`, as a line through the stamps of a card.
///
/// A stamp can only be late: the card had sampled its frames by then, perhaps earlier. So no stamp lies below the line,
/// and the line is the edge of the stamps' lower convex hull at their mean. Of all such lines it is the nearest to the
/// stamps, and its slope is the card's true rate (Moon, Skelly, Towsley: Estimation and removal of clock skew from
/// network delay measurements, 1999).
struct ClockLine {
    /// Frames and nanoseconds since the first stamp.
    private struct Point {
        var frames: Double
        var nanoseconds: Double
    }

    private let first: Stamp
    /// The time of the line at the first stamp's position, in nanoseconds after that stamp.
    private let offset: Double
    private let nanosecondsPerFrame: Double

    /// The smallest number of stamps, and the shortest time, from which a rate can be measured.
    private static let least = (stamps: 8, duration: Duration.seconds(2))

    /// The line through the stamps of a card that ran without interruption. Nil if there are too few stamps, or if their
    /// rate differs more from the stated one than that of a working card.
    /// - Parameter stamps: in order.
    init?(_ stamps: [Stamp], rateHz: Int) {
        guard let first = stamps.first, let last = stamps.last, stamps.count >= Self.least.stamps,
            last.rawNanoseconds - first.rawNanoseconds >= Self.least.duration.nanoseconds
        else { return nil }
        var hull: [Point] = []
        var sum = 0.0
        for stamp in stamps {
            let point = Point(
                frames: Double(stamp.position - first.position),
                nanoseconds: Double(stamp.rawNanoseconds - first.rawNanoseconds))
            sum += point.frames
            while hull.count > 1, Self.turnsRight(hull[hull.count - 2], hull[hull.count - 1], point) {
                hull.removeLast()
            }
            hull.append(point)
        }
        let mean = sum / Double(stamps.count)
        guard let end = hull.firstIndex(where: { $0.frames > mean }), end > 0 else { return nil }
        let (left, right) = (hull[end - 1], hull[end])
        let slope = (right.nanoseconds - left.nanoseconds) / (right.frames - left.frames)
        let offsetPPM = (slope * Double(rateHz) / 1e9 - 1) * 1e6
        guard offsetPPM.magnitude < RateMeasure.mostOffsetPPM else { return nil }
        self.init(first: first, offset: left.nanoseconds - slope * left.frames, nanosecondsPerFrame: slope)
    }

    /// The line with the stated rate through the least late stamp.
    /// - Parameter stamps: at least one, in order.
    init(nominal stamps: [Stamp], rateHz: Int) {
        let nanosecondsPerFrame = 1e9 / Double(rateHz)
        let first = stamps[0]
        let offsets = stamps.map { stamp in
            Double(stamp.rawNanoseconds - first.rawNanoseconds)
                - Double(stamp.position - first.position) * nanosecondsPerFrame
        }
        self.init(first: first, offset: offsets.min() ?? 0, nanosecondsPerFrame: nanosecondsPerFrame)
    }

    private init(first: Stamp, offset: Double, nanosecondsPerFrame: Double) {
        self.first = first
        self.offset = offset
        self.nanosecondsPerFrame = nanosecondsPerFrame
    }

    /// Whether `b` lies on or above the line from `a` to `c`.
    private static func turnsRight(_ a: Point, _ b: Point, _ c: Point) -> Bool {
        (b.frames - a.frames) * (c.nanoseconds - a.nanoseconds) <= (b.nanoseconds - a.nanoseconds)
            * (c.frames - a.frames)
    }

    func rawNanoseconds(at position: RingPosition) -> Int64 {
        first.rawNanoseconds + Int64((offset + Double(position - first.position) * nanosecondsPerFrame).rounded())
    }

    func position(atRaw nanoseconds: Int64) -> RingPosition {
        first.position + Int64(((Double(nanoseconds - first.rawNanoseconds) - offset) / nanosecondsPerFrame).rounded())
    }
}
