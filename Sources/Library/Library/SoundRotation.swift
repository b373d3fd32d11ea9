import Catalog
import Takes

/// Which of the takes that were compared before come next to be looked at again.
///
/// Lengths and times of a few are looked at each time, and now and then a take is read whole: decay changes neither. Each begins
/// anywhere, so that all have their turn on a kit that is switched on for an hour a day.
struct SoundRotation {
    private var last: Int64?
    private var lastWhole: Int64?
    private var due: Instant?

    /// The takes of one round.
    static let count = 20
    /// The time before the first take is read whole.
    static let wholePause = Duration.seconds(600)
    /// The time between two takes that are read whole.
    static let wholeInterval = Duration.seconds(3600)

    /// Takes whose lengths and times are to be looked at.
    mutating func next(of catalog: Catalog) throws -> [LocatedTake] {
        try catalog.comparedTakes(after: &last, limit: Self.count)
    }

    /// The take that is to be read whole now; nil: it is too early, or there is none.
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
