import GRDB
public import Takes

/// A take and the location of its files.
public struct LocatedTake: Hashable, Sendable {
    public var take: TakeName
    /// The kit's id and the number, or the stem.
    public var origin: TakeOrigin
    /// The folder for takes that contains it.
    public var folder: String

    public var identity: TakeIdentity { TakeIdentity(stem: take.stem, origin: origin) }

    /// The columns that `init(_:)` reads, of the tables `take` and `storage`.
    static let columns = "take.take, take.day, take.origin, storage.path"

    /// - Returns: nil if the row does not contain a valid name of a take.
    init?(_ row: Row) {
        guard let name = TakeName(stem: row["take"], day: row["day"]) else { return nil }
        (take, origin, folder) = (name, TakeOrigin(row["origin"]), row["path"])
    }
}
