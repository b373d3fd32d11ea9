public import Takes

/// A note that the capture thread leaves beside the frames: which frame the card was at, and when.
public struct Stamp: Hashable, Sendable {
    /// The card had sampled all frames before this one at `instant`.
    public var position: RingPosition
    /// When, on `CLOCK_MONOTONIC`.
    public var instant: Instant
    /// The same on `CLOCK_MONOTONIC_RAW`, which is never slewed, in nanoseconds.
    public var rawNanoseconds: Int64
    /// What happened just before it.
    public var kind: Kind
    /// Frames known to be missing before `position`; −1: missing, and only the clock shows how many.
    public var lost: Int64

    /// What happened before a stamp.
    public enum Kind: Sendable {
        /// The card went on.
        case running
        /// The card was started; its first frame was sampled at `instant`.
        case started
        /// The card's buffer ran over and the card was started again; its next frame was sampled at `instant`.
        case xrun
        /// The ring was full and frames were dropped.
        case stall
    }

    /// A stamp.
    /// - Parameter rawNanoseconds: nil: the two clocks agree.
    public init(
        position: RingPosition, instant: Instant, rawNanoseconds: Int64? = nil, kind: Kind = .running, lost: Int64 = 0
    ) {
        self.position = position
        self.instant = instant
        self.rawNanoseconds = rawNanoseconds ?? instant.nanoseconds
        self.kind = kind
        self.lost = lost
    }
}
