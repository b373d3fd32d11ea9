/// A place in a take: a frame of one of its parts.
struct PlayPosition: Hashable, Sendable, Comparable {
    /// The part's number, from 0.
    var part = 0
    var frame: Int64 = 0

    static func < (left: PlayPosition, right: PlayPosition) -> Bool {
        (left.part, left.frame) < (right.part, right.frame)
    }
}
