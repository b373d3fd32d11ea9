import Catalog
import Takes

/// Chooses which takes are compared again next.
///
/// In each round, the lengths and timestamps of a few takes are compared. At a longer interval, one take is read whole,
/// because bit rot changes neither. The rotation starts at a random take, so that each take gets its turn even if the
/// kit is switched on for only an hour a day.
struct SoundRotation {
    private var last: Int64?
    private var lastWhole: Int64?
    private var due: Instant?

    /// The number of takes in one round.
    static let count = 20
    /// The time before the first take is read whole.
    static let wholePause = Duration.seconds(600)
    /// The time between two takes that are read whole.
    static let wholeInterval = Duration.seconds(3600)

    /// The takes of the next round.
    mutating func next(of catalog: Catalog) throws -> [LocatedTake] {
        try catalog.comparedTakes(after: &last, limit: Self.count)
    }

    /// The take to read whole now, or nil if it is too early or there is none.
    mutating func nextWhole(of catalog: Catalog, at now: Instant) throws -> LocatedTake? {
        guard let due else {
            due = now + Self.wholePause
            return nil
        }
        guard due <= now else { return nil }
        self.due = now + Self.wholeInterval
        return try catalog.comparedTakes(after: &lastWhole, limit: 1).first
    }
}
