public import Takes

/// A take in the recorder's bin.
public struct BinnedTake: Codable, Hashable, Sendable {
    /// The stem.
    public var take: String
    public var number: Int
    /// The folder that it was in, `2026-11-21`.
    public var day: String
    /// The size of all its files.
    public var bytes: Int64
    /// When it was deleted, as ISO 8601 in UTC, or null if the clock was not set.
    @ExplicitNull public var binned: String?

    public init(take: String, number: Int, day: String, bytes: Int64, binned: String?) {
        self.take = take
        self.number = number
        self.day = day
        self.bytes = bytes
        self.binned = binned
    }
}
