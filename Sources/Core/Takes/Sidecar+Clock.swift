extension Sidecar {
    /// When one frame of a take was sampled, by two clocks: an entry of `clock_map`.
    public struct ClockPoint: Codable, Hashable, Sendable {
        /// The frame of the take.
        public var atFrame: TakeFrame
        /// When it was sampled, on `CLOCK_MONOTONIC_RAW`, in nanoseconds.
        public var rawNs: Int64
        /// The same by the calendar: ISO 8601, UTC, microseconds; null if the clock was not set.
        @ExplicitNull public var utc: String?
        /// By how many microseconds either time may be wrong.
        public var errorUs: Int64
        /// The same on `CLOCK_MONOTONIC`, in nanoseconds, by which a date that is set later applies to it; nil in sidecars of versions that
        /// did not note it.
        public var monotonicNs: Int64?

        /// A frame and when it was sampled.
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

    /// Frames that the card seems to have lost without a report: an entry of `suspected_losses`. Nothing is filled in for them.
    public struct SuspectedLoss: Codable, Hashable, Sendable {
        /// The last frame of the take that is known to lie before the loss.
        public var afterFrame: TakeFrame
        /// The first frame that is known to lie behind it.
        public var beforeFrame: TakeFrame
        /// How many frames are missing between the two.
        public var frames: Int64
        /// How sure that is, from 0 to 1.
        public var confidence: Double

        /// A loss somewhere between two frames.
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

        /// Adds a loss that lies behind this one.
        mutating func merge(_ later: SuspectedLoss) {
            beforeFrame = max(beforeFrame, later.beforeFrame)
            frames += later.frames
            confidence = min(confidence, later.confidence)
        }
    }
}
