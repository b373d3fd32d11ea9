/// A frame of a take, counted from its first one at the rate of the take. Silence that stands for lost sound counts.
public struct TakeFrame: Hashable, Sendable, Comparable, Codable {
    /// Frames of the take before this one.
    public var count: Int64

    /// The frame that follows `count` others.
    public init(_ count: Int64) { self.count = count }

    /// The first frame.
    public static let first = TakeFrame(0)

    /// No place in a take lies behind this one: 66 days at 768 kHz.
    public static let last = TakeFrame(1 << 42)

    /// Comes earlier.
    public static func < (left: TakeFrame, right: TakeFrame) -> Bool { left.count < right.count }
    /// The frame so many further on.
    public static func + (frame: TakeFrame, count: Int64) -> TakeFrame { TakeFrame(frame.count + count) }
    /// The frame so many before.
    public static func - (frame: TakeFrame, count: Int64) -> TakeFrame { TakeFrame(frame.count - count) }
    /// How many frames lie from `start` up to `end`.
    public static func - (end: TakeFrame, start: TakeFrame) -> Int64 { end.count - start.count }

    /// Reads a number.
    public init(from decoder: any Decoder) throws {
        count = try decoder.singleValueContainer().decode(Int64.self)
    }

    /// Writes a number.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(count)
    }
}
