/// A position in a ring: the number of frames that were written before it since the ring was made.
public struct RingPosition: Hashable, Sendable, Comparable, ExpressibleByIntegerLiteral, CustomStringConvertible {
    public var count: Int64

    public init(_ count: Int64) { self.count = count }

    public init(integerLiteral count: Int64) { self.count = count }

    public static let start = RingPosition(0)

    public static func < (left: RingPosition, right: RingPosition) -> Bool { left.count < right.count }
    public static func + (position: RingPosition, count: Int64) -> RingPosition { RingPosition(position.count + count) }
    public static func - (position: RingPosition, count: Int64) -> RingPosition { RingPosition(position.count - count) }
    /// The number of frames from `start` up to `end`.
    public static func - (end: RingPosition, start: RingPosition) -> Int64 { end.count - start.count }
    public var description: String { "\(count)" }
}
