/// A frame of a ring, named by how many frames were written before it since the ring was made.
public struct RingPosition: Hashable, Sendable, Comparable, ExpressibleByIntegerLiteral, CustomStringConvertible {
    /// Frames of the ring before this one.
    public var count: Int64

    /// The frame that follows `count` others.
    public init(_ count: Int64) { self.count = count }

    /// The frame that follows so many others, as a literal.
    public init(integerLiteral count: Int64) { self.count = count }

    /// The first frame ever written.
    public static let start = RingPosition(0)

    /// Was written earlier.
    public static func < (left: RingPosition, right: RingPosition) -> Bool { left.count < right.count }
    /// The frame so many further on.
    public static func + (position: RingPosition, count: Int64) -> RingPosition { RingPosition(position.count + count) }
    /// The frame so many before.
    public static func - (position: RingPosition, count: Int64) -> RingPosition { RingPosition(position.count - count) }
    /// How many frames lie from `start` up to `end`.
    public static func - (end: RingPosition, start: RingPosition) -> Int64 { end.count - start.count }
    /// The number of frames before it.
    public var description: String { "\(count)" }
}
