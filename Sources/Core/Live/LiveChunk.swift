package import Ring
package import Takes

/// A stretch of live sound: its position, its time, and the number of frames missing before it.
package struct LiveChunk: Hashable, Sendable {
    package var first: RingPosition
    /// The sampling time of the first frame, or nil before the card's first stamp.
    package var instant: Instant?
    package var frames: Int
    /// The number of frames before it that were overwritten before they were read.
    package var skipped: Int64
}
