package import Ring
package import Takes

/// A stretch of live sound: where it lies, when it was sampled, and what is missing before it.
package struct LiveChunk: Hashable, Sendable {
    /// The place of its first frame.
    package var first: RingPosition
    /// When that was sampled, or nil before the card left a stamp.
    package var instant: Instant?
    /// How many frames it has.
    package var frames: Int
    /// How many frames before it were overwritten before they were read.
    package var skipped: Int64
}
