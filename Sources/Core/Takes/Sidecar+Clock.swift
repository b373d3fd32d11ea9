extension Sidecar {
    /// The time at which one frame was sampled, on two clocks: an entry of `clock_map`.
    public struct ClockPoint: Codable, Hashable, Sendable {
        public var atFrame: TakeFrame
        /// The time on `CLOCK_MONOTONIC_RAW`, in nanoseconds.
        public var rawNs: Int64
        /// The calendar time: ISO 8601, UTC, microseconds; null if the clock was not set.
        @ExplicitNull public var utc: String?
        /// The possible error of either time, in microseconds.
        public var errorUs: Int64
        /// The time on `CLOCK_MONOTONIC`, in nanoseconds. It allows the point to be dated when the clock is set later.
        /// Nil in sidecars of versions that did not note it.
        public var monotonicNs: Int64?

        public init(atFrame: TakeFrame, rawNs: Int64, utc: String?, errorUs: Int64, monotonicNs: Int64? = nil) {
            self.monotonicNs = monotonicNs
            self.atFrame = atFrame
            self.rawNs = rawNs
            self.utc = utc
            self.errorUs = errorUs
        }

        enum CodingKeys: String, CodingKey {
            case utc
            case atFrame = "at_frame"
            case rawNs = "raw_ns"
            case errorUs = "error_us"
            case monotonicNs = "monotonic_ns"
        }
    }

    /// Frames that the card seems to have lost without a report: an entry of `suspected_losses`. They are not replaced
    /// by silence.
    public struct SuspectedLoss: Codable, Hashable, Sendable {
        /// The last frame that certainly precedes the loss.
        public var afterFrame: TakeFrame
        /// The first frame that certainly follows the loss.
        public var beforeFrame: TakeFrame
        /// The number of missing frames between the two.
        public var frames: Int64
        /// The confidence, from 0 to 1.
        public var confidence: Double

        public init(afterFrame: TakeFrame, beforeFrame: TakeFrame, frames: Int64, confidence: Double) {
            self.afterFrame = afterFrame
            self.beforeFrame = beforeFrame
            self.frames = frames
            self.confidence = confidence
        }

        enum CodingKeys: String, CodingKey {
            case frames, confidence
            case afterFrame = "after_frame"
            case beforeFrame = "before_frame"
        }

        /// Adds a loss that follows this one.
        mutating func merge(_ later: SuspectedLoss) {
            beforeFrame = max(beforeFrame, later.beforeFrame)
            frames += later.frames
            confidence = min(confidence, later.confidence)
        }
    }
}
