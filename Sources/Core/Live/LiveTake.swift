public import Ring
public import Takes

/// Maps a frame of the ring to a frame of a take.
public struct LiveTake: Hashable, Sendable {
    public var stem: String
    /// Frames a second of the take.
    public var rateHz: Int
    public var position: RingPosition
    /// The same frame in the take. After the end of the take it is the frame after its last one.
    public var frame: TakeFrame
    /// Whether the take ended before this frame.
    public var isOver: Bool

    public init(stem: String, rateHz: Int, position: RingPosition, frame: TakeFrame, isOver: Bool = false) {
        self.stem = stem
        self.rateHz = rateHz
        self.position = position
        self.frame = frame
        self.isOver = isOver
    }
}
