extension Sidecar {
    /// Frames that were lost and are silent in the file: one gap, or a range of several gaps.
    ///
    /// As JSON `{"at_frame": 4800, "frames": 240, "cause": "xrun"}`: 240 silent frames, beginning at frame 4800. A
    /// range of several gaps has two more keys, `{"at_frame": 4800, "frames": 720, "cause": "xrun", "count": 3,
    /// "until_frame": 96000}`: three gaps between frame 4800 and frame 96000 (exclusive), with 720 silent frames in
    /// total. A reader that ignores these two keys still gets the start of the first gap and the exact number of silent
    /// frames.
    public struct Gap: Codable, Hashable, Sendable {
        public var atFrame: TakeFrame
        /// The number of silent frames in all gaps of the range.
        public var frames: Int64
        public var cause: Cause
        /// The number of gaps in the range, or nil for one gap.
        public private(set) var count: Int?
        /// The frame after the last silent one of the range, or nil for one gap.
        public private(set) var untilFrame: TakeFrame?

        public enum Cause: String, Codable, Sendable {
            /// The card's buffer overran.
            case xrun
            /// The ring overran, because the storage was too slow for too long.
            case stall
            /// The driver lost frames without a report.
            case driver
            /// The card was disconnected.
            case cardLost = "card-lost"
        }

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

        public var gapCount: Int { count ?? 1 }

        /// The frame after the last silent one.
        public var end: TakeFrame { untilFrame ?? atFrame + frames }

        /// Adds gaps that begin after this one's first frame. Adjacent gaps with the same cause become one gap.
        mutating func merge(_ later: Gap) {
            let touches = count == nil && later.count == nil && later.cause == cause && later.atFrame == end
            if !touches {
                let merged = (gapCount + later.gapCount, Swift.max(end, later.end))
                (count, untilFrame) = (merged.0, merged.1)
            }
            frames += later.frames
        }

        /// Removes the frames from `end` on. `end` must follow the first frame.
        public mutating func cut(at end: TakeFrame) {
            frames = min(frames, end - atFrame)
            if let untilFrame { self.untilFrame = min(untilFrame, end) }
        }
    }

    /// Ends the take at a frame after which its card did not return. Markers in the time without sound move to the end
    /// of the take, and that time is not listed as a gap.
    public mutating func endBeforeTimeAway(at end: TakeFrame) {
        let away = gaps.filter { $0.cause == .cardLost && $0.atFrame >= end }
        for index in markers.indices {
            let frame = markers[index].atFrame
            if away.contains(where: { $0.atFrame <= frame && frame < $0.end }) { markers[index].atFrame = end }
            markers[index].endRegion(before: end)
        }
        gaps.removeAll(where: away.contains)
    }

    /// The number of gaps, counting each gap of a range.
    public var gapCount: Int { gaps.reduce(0) { $0 + $1.gapCount } }
}
