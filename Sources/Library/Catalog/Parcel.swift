public import Takes

/// The identity of a parcel, used as the key for sending, deleting and ordering.
public enum ParcelID: Hashable, Sendable {
    case take(TakeIdentity)

    /// Whether both may be the same parcel.
    public func mayBe(_ other: ParcelID) -> Bool {
        switch (self, other) {
        case (.take(let take), .take(let other)): take.mayBe(other)
        }
    }

    /// The common beginning of the names of all its files.
    public var stem: String {
        switch self {
        case .take(let take): take.stem
        }
    }
}

/// Files that are sent to a store together and have one receipt there.
public struct Parcel: Hashable, Sendable {
    public var content: Content
    /// The revision to send.
    public var revision: Int

    public enum Content: Hashable, Sendable {
        case take(LocatedTake)
    }

    public var id: ParcelID {
        switch content {
        case .take(let take): .take(take.identity)
        }
    }
}
