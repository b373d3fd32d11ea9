import GRDB
public import Takes

/// A take, and where its files are.
public struct LocatedTake: Hashable, Sendable {
    /// The take, with the folder of its day.
    public var take: TakeName
    /// The kit and the number, or the stem.
    public var origin: TakeOrigin
    /// The folder for takes that it is in.
    public var folder: String

    /// Which take it is.
    public var identity: TakeIdentity { TakeIdentity(stem: take.stem, origin: origin) }

    /// The columns that `init(row:)` reads, of the tables `take` and `storage`.
    static let columns = "take.take, take.day, take.origin, storage.path"

    /// - Returns: nil if the row has no name of a take.
    init?(_ row: Row) {
        guard let name = TakeName(stem: row["take"], day: row["day"]) else { return nil }
        (take, origin, folder) = (name, TakeOrigin(row["origin"]), row["path"])
    }
}
