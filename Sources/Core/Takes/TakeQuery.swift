/// What a person looks for among the takes: all conditions hold together.
public struct TakeQuery: Hashable, Sendable {
    /// Words that the memo, the tags or the markers' notes hold, each as the beginning of a word; nil: whatever they hold.
    public var text: String?
    /// A tag that it has.
    public var tag: String?
    /// Whether it has a star; nil: either.
    public var isStarred: Bool?
    /// A word that a marker's note holds, as the beginning of a word; an empty text: it has any marker.
    public var marker: String?
    /// Begun at this time or later.
    public var since: WallTime?
    /// Begun before this time.
    public var until: WallTime?
    /// At least so long, in seconds.
    public var leastSeconds: Double?
    /// At most so long, in seconds.
    public var mostSeconds: Double?
    /// Where its files are; nil: anywhere.
    public var place: CatalogedTake.Place?
    /// The kit that recorded it.
    public var kit: String?
    /// Where it stands in the outbox; nil: anywhere, or in none.
    public var upload: Upload?
    /// Whether it is held as damaged; nil: either.
    public var isDamaged: Bool?
    /// How they are sorted.
    public var order = Order.started
    /// The greatest first: the newest, the longest.
    public var isDescending = true
    /// How many at most, 1 to `mostTakes`.
    public var limit = 50
    /// Where the page before ended, as its reply said; nil: from the beginning.
    public var after: String?

    /// The most takes of one page.
    public static let mostTakes = 200

    /// By what takes are sorted.
    public enum Order: String, CaseIterable, Sendable {
        /// When they began, by the clock that is known best.
        case started
        case duration
        /// By their number; takes of several kits may share one.
        case number
        /// By what their files take up.
        case size
    }

    /// Where takes may stand in the outbox.
    public enum Upload: String, CaseIterable, Sendable {
        /// As `UploadStanding` has them.
        case waiting, held, done
        /// Not with all stores: what would be lost with the kit.
        case notDone = "not-done"
        /// In no outbox: no store is named, or a person decided so.
        case nowhere = "none"
    }

    /// All takes, the newest first.
    public init() {}
}
