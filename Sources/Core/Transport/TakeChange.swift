public import Takes

/// What became of a take on the disk, for those who keep a list of takes.
public struct TakeChange: Codable, Hashable, Sendable {
    /// What became of it.
    public var what: What
    /// Its stem.
    public var take: String

    /// What can become of a take.
    public enum What: String, Codable, Sendable {
        /// It is finished: its sidecar is on the disk.
        case committed
        /// Its sidecar has a higher revision.
        case revised
        /// It is deleted.
        case discarded
    }

    /// A change of a take.
    public init(_ what: What, take: String) {
        self.what = what
        self.take = take
    }

    /// A take was finished, with this sidecar: one that went on after its stop was finished before.
    public init(finished sidecar: Sidecar) {
        self.init(sidecar.revision == 1 ? .committed : .revised, take: sidecar.take)
    }
}
