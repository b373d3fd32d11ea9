public import Takes

/// A change of a take on the disk, for programs that keep a list of takes.
public struct TakeChange: Codable, Hashable, Sendable {
    public var what: What
    /// The stem.
    public var take: String

    public enum What: String, Codable, Sendable {
        /// It is finished, and its sidecar is on the disk.
        case committed
        /// Its sidecar has a higher revision.
        case revised
        /// It was deleted.
        case discarded
    }

    public init(_ what: What, take: String) {
        self.what = what
        self.take = take
    }

    /// A take was finished with this sidecar. A take that continued after a stop was already finished before.
    public init(finished sidecar: Sidecar) {
        self.init(sidecar.revision == 1 ? .committed : .revised, take: sidecar.take)
    }
}
