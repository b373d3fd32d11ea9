public import Ring
public import Takes

/// Which frame of a take a frame of the ring is.
public struct LiveTake: Hashable, Sendable {
    /// The take's stem.
    public var stem: String
    /// Frames a second of the take.
    public var rateHz: Int
    /// The frame of the ring.
    public var position: RingPosition
    /// The same frame of the take; of a take that is over, the one behind its last.
    public var frame: TakeFrame
    /// Whether the take ended before this frame.
    public var isOver: Bool

    /// A frame of the ring that a take has, or behind its end.
    public init(stem: String, rateHz: Int, position: RingPosition, frame: TakeFrame, isOver: Bool = false) {
        self.stem = stem
        self.rateHz = rateHz
        self.position = position
        self.frame = frame
        self.isOver = isOver
    }
}
