import Takes

/// How a lamp goes on and off: segments that are repeated, or shown once.
public struct BlinkPattern: Hashable, Sendable {
    /// A stretch of light or darkness.
    public struct Segment: Hashable, Sendable {
        /// Whether the lamp is lit.
        public var isLit: Bool
        /// How long.
        public var length: Duration

        /// The lamp lit for `length`.
        public static func lit(_ length: Duration) -> Segment {
            Segment(isLit: true, length: length)
        }

        /// The lamp dark for `length`.
        public static func dark(_ length: Duration) -> Segment {
            Segment(isLit: false, length: length)
        }
    }

    /// In order; each longer than nothing.
    public let segments: [Segment]
    /// Whether they begin again after the last one; otherwise the pattern is over, and the one below it shows.
    public let repeats: Bool

    /// Repeats `segments` without end.
    public static func repeating(_ segments: [Segment]) -> BlinkPattern {
        BlinkPattern(segments: segments, repeats: true)
    }

    /// Shows `segments` once.
    public static func once(_ segments: [Segment]) -> BlinkPattern {
        BlinkPattern(segments: segments, repeats: false)
    }

    /// Always lit.
    public static let solid = repeating([.lit(.seconds(1))])
    /// Never lit.
    public static let off = repeating([.dark(.seconds(1))])

    /// One round of the segments.
    public var length: Duration {
        segments.reduce(.zero) { $0 + $1.length }
    }

    /// Whether the lamp is lit this long after the pattern began; nil before its beginning and after its end.
    public func isLit(after elapsed: Duration) -> Bool? {
        guard elapsed >= .zero, repeats || elapsed < length else { return nil }
        var left = phase(elapsed)
        for segment in segments {
            if left < segment.length { return segment.isLit }
            left -= segment.length
        }
        return nil
    }

    /// The first beginning or end of a segment later than `elapsed`; nil when the lamp stays as it is.
    public func border(after elapsed: Duration) -> Duration? {
        guard elapsed >= .zero else { return .zero }
        guard repeats || elapsed < length else { return nil }
        guard !repeats || segments.contains(where: { $0.isLit != segments[0].isLit }) else { return nil }
        let begun = elapsed - phase(elapsed)
        var border = begun
        for segment in segments {
            border += segment.length
            if border > elapsed { return border }
        }
        return nil
    }

    private func phase(_ elapsed: Duration) -> Duration {
        repeats ? .nanoseconds(elapsed.nanoseconds % length.nanoseconds) : elapsed
    }
}
