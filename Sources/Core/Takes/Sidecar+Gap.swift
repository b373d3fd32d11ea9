extension Sidecar {
    /// Frames that were lost and are silent in the file: one gap, or a range of several.
    ///
    /// As JSON `{"at_frame": 4800, "frames": 240, "cause": "xrun"}`: 240 silent frames from frame 4800 on. A range of several
    /// gaps has two keys more, `{"at_frame": 4800, "frames": 720, "cause": "xrun", "count": 3, "until_frame": 96000}`: three
    /// gaps, which lie from frame 4800 up to, and not including, frame 96000, and have 720 silent frames together.
    /// A reader that does not know these two keys sees where the first gap begins and the exact number of silent frames.
    public struct Gap: Codable, Hashable, Sendable {
        /// The first silent frame of the take.
        public var atFrame: TakeFrame
        /// How many are silent, of all gaps of the range.
        public var frames: Int64
        /// Why.
        public var cause: Cause
        /// How many gaps the range has; nil: this is one gap.
        public private(set) var count: Int?
        /// The frame after the range's last silent one; nil: this is one gap.
        public private(set) var untilFrame: TakeFrame?

        /// Why frames were lost.
        public enum Cause: String, Codable, Sendable {
            /// The card's buffer ran over.
            case xrun
            /// The ring ran over: storage was too slow for too long.
            case stall
            /// The driver lost them without a report.
            case driver
            /// The card was away.
            case cardLost = "card-lost"
        }

        /// `frames` silent frames from `atFrame` on.
        public init(atFrame: TakeFrame, frames: Int64, cause: Cause) {
            self.atFrame = atFrame
            self.frames = frames
            self.cause = cause
        }

        enum CodingKeys: String, CodingKey {
            case frames, cause, count
            case atFrame = "at_frame"
            case untilFrame = "until_frame"
        }

        /// How many gaps this stands for.
        public var gapCount: Int { count ?? 1 }

        /// The frame after the last silent one.
        public var end: TakeFrame { untilFrame ?? atFrame + frames }

        /// Adds gaps that begin behind this one's first frame. Gaps that touch and have one cause become one gap.
        mutating func merge(_ later: Gap) {
            let touches = count == nil && later.count == nil && later.cause == cause && later.atFrame == end
            if !touches {
                let merged = (gapCount + later.gapCount, Swift.max(end, later.end))
                (count, untilFrame) = (merged.0, merged.1)
            }
            frames += later.frames
        }

        /// Takes out what lies at or behind `end`, which lies behind the first frame.
        public mutating func cut(at end: TakeFrame) {
            frames = min(frames, end - atFrame)
            if let untilFrame { self.untilFrame = min(untilFrame, end) }
        }
    }

    /// The take ends at a frame, and its card did not come back after it: what was marked in the time without sound is marked at its end, and
    /// that time is no gap of the take.
    public mutating func endBeforeTimeAway(at end: TakeFrame) {
        let away = gaps.filter { $0.cause == .cardLost && $0.atFrame >= end }
        for index in markers.indices {
            let frame = markers[index].atFrame
            if away.contains(where: { $0.atFrame <= frame && frame < $0.end }) { markers[index].atFrame = end }
            markers[index].endRegion(before: end)
        }
        gaps.removeAll(where: away.contains)
    }

    /// How many gaps there are.
    public var gapCount: Int { gaps.reduce(0) { $0 + $1.gapCount } }
}
