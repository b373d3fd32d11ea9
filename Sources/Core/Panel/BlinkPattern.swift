import Takes

/// The blinking of a lamp: segments that are repeated, or shown once.
public struct BlinkPattern: Hashable, Sendable {
    public struct Segment: Hashable, Sendable {
        public var isLit: Bool
        public var length: Duration

        public static func lit(_ length: Duration) -> Segment {
            Segment(isLit: true, length: length)
        }

        public static func dark(_ length: Duration) -> Segment {
            Segment(isLit: false, length: length)
        }
    }

    /// In order. Each is longer than zero.
    public let segments: [Segment]
    /// Whether the pattern repeats. If not, the pattern below it shows after the last segment.
    public let repeats: Bool

    public static func repeating(_ segments: [Segment]) -> BlinkPattern {
        BlinkPattern(segments: segments, repeats: true)
    }

    public static func once(_ segments: [Segment]) -> BlinkPattern {
        BlinkPattern(segments: segments, repeats: false)
    }

    public static let solid = repeating([.lit(.seconds(1))])
    public static let off = repeating([.dark(.seconds(1))])

    /// The length of all segments together.
    public var length: Duration {
        segments.reduce(.zero) { $0 + $1.length }
    }

    /// Whether the lamp is lit this long after the start of the pattern, or nil before its start and after its end.
    public func isLit(after elapsed: Duration) -> Bool? {
        guard elapsed >= .zero, repeats || elapsed < length else { return nil }
        var left = phase(elapsed)
        for segment in segments {
            if left < segment.length { return segment.isLit }
            left -= segment.length
        }
        return nil
    }

    /// The first start or end of a segment later than `elapsed`, or nil if the lamp never changes again.
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
