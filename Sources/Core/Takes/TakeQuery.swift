/// A search for takes. A take must meet all conditions.
public struct TakeQuery: Hashable, Sendable {
    /// Words in the title, the memo, the tags or the markers' notes. Each matches the start of a word. Nil matches any take.
    public var text: String?
    /// What a person typed to find takes, see `TypedSearch`. Words are searched as in `text`.
    public var typed: String?
    /// A tag of the take.
    public var tag: String?
    /// Nil matches takes with and without a star.
    public var isStarred: Bool?
    /// The start of a word in a marker's note. An empty text matches any take with a marker.
    public var marker: String?
    /// Words that follow each other in a marker's or region's text. The last may be the start of one.
    public var label: String?
    /// The earliest start.
    public var since: WallTime?
    /// The end of the interval of starts, exclusive.
    public var until: WallTime?
    /// The hour of the local day from which on it started, 0 to 24. Nil means 0.
    public var fromHour: Double?
    /// The hour before which it started, 0 to 24; that of the next day if it is less than `fromHour`. Nil means 24.
    public var toHour: Double?
    /// The name of the time zone of hours and typed days, such as `Europe/Berlin`, or nil for the kit's.
    public var zone: String?
    /// The shortest length, in seconds.
    public var leastSeconds: Double?
    /// The longest length, in seconds.
    public var mostSeconds: Double?
    /// The lowest peak of the loudest channel, in dB of full scale.
    public var leastPeakDBFS: Double?
    /// The place of its files, or nil for any place.
    public var place: CatalogedTake.Place?
    public var kit: String?
    /// The state in the outbox, or nil for any state, including takes that are not in the outbox.
    public var upload: Upload?
    /// Whether it is held as damaged, or nil for both.
    public var isDamaged: Bool?
    public var order = Order.started
    /// Whether the greatest value comes first, such as the newest or the longest take.
    public var isDescending = true
    /// The number of takes in a page, from 1 to `mostTakes`.
    public var limit = 50
    /// The position from the reply to the previous page, or nil for the first page.
    public var after: String?
    /// Whether the page has the number and the length of all takes that are found.
    public var isCounted = false

    public static let mostTakes = 200

    public enum Order: String, CaseIterable, Sendable {
        /// By start time, on the best known clock.
        case started
        case duration
        /// By number. Takes of several kits may share one.
        case number
        /// By the total size of the files.
        case size
        /// By the peak of the loudest channel. Takes whose levels are not known come last in both directions.
        case loudness
    }

    public enum Upload: String, CaseIterable, Sendable {
        /// The states of `UploadStanding`.
        case waiting, held, done
        /// At least one store lacks it, so it would be lost with the kit.
        case notDone = "not-done"
        /// In no outbox: no store is configured, or a person excluded it.
        case nowhere = "none"
    }

    public init() {}
}
