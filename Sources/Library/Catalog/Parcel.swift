public import Takes

/// Which parcel this is: what is being sent and deleted, and whose turn it is, are kept by it.
public enum ParcelID: Hashable, Sendable {
    /// A take.
    case take(TakeIdentity)

    /// Whether this may be the other one.
    public func mayBe(_ other: ParcelID) -> Bool {
        switch (self, other) {
        case (.take(let take), .take(let other)): take.mayBe(other)
        }
    }

    /// The name that all of its files share.
    public var stem: String {
        switch self {
        case .take(let take): take.stem
        }
    }
}

/// What waits to be sent to a store: files that have one receipt there.
public struct Parcel: Hashable, Sendable {
    /// What it is.
    public var content: Content
    /// The revision that waits.
    public var revision: Int

    /// What may be sent.
    public enum Content: Hashable, Sendable {
        /// A take.
        case take(LocatedTake)
    }

    /// Which one it is.
    public var id: ParcelID {
        switch content {
        case .take(let take): .take(take.identity)
        }
    }
}
