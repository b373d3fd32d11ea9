/// Which take this is, wherever its files are and whatever other take has the same name: what rows, notes, and what is in hand are kept by.
///
/// As a text, for files, databases and commands: `00112233445566778899aabbccddeeff:42`, or the stem. No stem has a colon.
public enum TakeOrigin: Hashable, Sendable {
    /// The kit that recorded it, and the number that the kit gave it: no kit gives a number twice.
    case kit(KitID, number: Int)
    /// Its stem: nothing else is known of takes whose sidecar does not have the kit's id.
    case stem(String)

    /// What the kit is known by, or nil if that is not known.
    public var kitID: KitID? {
        switch self {
        case .kit(let id, _): id
        case .stem: nil
        }
    }
}

extension TakeOrigin: LosslessStringConvertible {
    /// Reads either form. What is not a kit's id and a number is a stem.
    public init(_ text: String) {
        let parts = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        if parts.count == 2, let id = KitID(String(parts[0])), let number = Int(parts[1]), String(number) == parts[1] {
            self = .kit(id, number: number)
        } else {
            self = .stem(text)
        }
    }

    /// The text.
    public var description: String {
        switch self {
        case .kit(let id, let number): "\(id):\(number)"
        case .stem(let stem): stem
        }
    }
}

/// A take, by what it is known by and by what its files are called.
public struct TakeIdentity: Hashable, Sendable {
    /// The stem that its files share.
    public var stem: String
    /// Which take it is.
    public var origin: TakeOrigin

    /// A take of a kit.
    /// - Parameter kitID: nil: the take is known by its stem.
    public init(stem: String, number: Int, kitID: KitID?) {
        self.init(stem: stem, origin: kitID.map { .kit($0, number: number) } ?? .stem(stem))
    }

    /// A take.
    public init(stem: String, origin: TakeOrigin) {
        self.stem = stem
        self.origin = origin
    }

    /// A take of which the stem alone is known.
    public init(stem: String) { self.init(stem: stem, origin: .stem(stem)) }

    /// Whether this may be the other take: where only the stem is known, it may be any take of that stem.
    public func mayBe(_ other: TakeIdentity) -> Bool {
        guard stem == other.stem, origin.kitID != nil, other.origin.kitID != nil else { return stem == other.stem }
        return origin == other.origin
    }
}

extension Sidecar {
    /// Which take this describes.
    public var identity: TakeIdentity { TakeIdentity(stem: take, number: number, kitID: kitID) }
}

extension CatalogedTake {
    /// Which take this is.
    public var identity: TakeIdentity { TakeIdentity(stem: take, number: number, kitID: kitID) }
}
