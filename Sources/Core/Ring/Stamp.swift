public import Takes

/// A position of the card and its time, which the capture thread adds to the ring.
public struct Stamp: Hashable, Sendable {
    /// The card had sampled all frames before this one at `instant`.
    public var position: RingPosition
    public var instant: Instant
    /// The time on `CLOCK_MONOTONIC_RAW`, which is never slewed.
    public var rawNanoseconds: Int64
    public var kind: Kind
    /// The number of frames missing before `position`; −1 if only the clock shows how many are missing.
    public var lost: Int64

    /// The event just before a stamp.
    public enum Kind: Sendable {
        /// The card continued.
        case running
        /// The card was started. Its first frame was sampled at `instant`.
        case started
        /// The card's buffer overran and the card was started again. Its next frame was sampled at `instant`.
        case xrun
        /// The ring was full and frames were dropped.
        case stall
    }

    /// - Parameter rawNanoseconds: nil if both clocks agree.
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
