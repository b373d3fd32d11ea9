/// A frame of a take, counted from its first one at the rate of the take. Silence that replaces lost sound is counted
/// too.
public struct TakeFrame: Hashable, Sendable, Comparable, Codable {
    /// The number of earlier frames of the take.
    public var count: Int64

    public init(_ count: Int64) { self.count = count }

    public static let first = TakeFrame(0)

    /// The largest position in a take: 66 days at 768 kHz.
    public static let last = TakeFrame(1 << 42)

    public static func < (left: TakeFrame, right: TakeFrame) -> Bool { left.count < right.count }
    public static func + (frame: TakeFrame, count: Int64) -> TakeFrame { TakeFrame(frame.count + count) }
    public static func - (frame: TakeFrame, count: Int64) -> TakeFrame { TakeFrame(frame.count - count) }
    /// The number of frames from `start` up to `end`.
    public static func - (end: TakeFrame, start: TakeFrame) -> Int64 { end.count - start.count }

    public init(from decoder: any Decoder) throws {
        count = try decoder.singleValueContainer().decode(Int64.self)
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(count)
    }
}
