/// The identity of a take, wherever its files are and whichever other take has the same name. It is the key of database
/// rows, notes and current operations.
///
/// As a text, for files, databases and commands: `00112233445566778899aabbccddeeff:42`, or the stem. A stem never
/// contains a colon.
public enum TakeOrigin: Hashable, Sendable {
    /// The kit that recorded it, and its number. A kit never uses a number twice.
    case kit(KitID, number: Int)
    /// The stem, for a take whose sidecar does not contain the kit's id.
    case stem(String)

    /// The id of the kit, or nil if it is unknown.
    public var kitID: KitID? {
        switch self {
        case .kit(let id, _): id
        case .stem: nil
        }
    }
}

extension TakeOrigin: LosslessStringConvertible {
    /// Reads either form. Any text other than a kit's id and a number is a stem.
    public init(_ text: String) {
        let parts = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        if parts.count == 2, let id = KitID(String(parts[0])), let number = Int(parts[1]), String(number) == parts[1] {
            self = .kit(id, number: number)
        } else {
            self = .stem(text)
        }
    }

    public var description: String {
        switch self {
        case .kit(let id, let number): "\(id):\(number)"
        case .stem(let stem): stem
        }
    }
}

/// A take's identity and the stem of its files.
public struct TakeIdentity: Hashable, Sendable {
    public var stem: String
    public var origin: TakeOrigin

    /// - Parameter kitID: nil if the take is identified by its stem.
    public init(stem: String, number: Int, kitID: KitID?) {
        self.init(stem: stem, origin: kitID.map { .kit($0, number: number) } ?? .stem(stem))
    }

    public init(stem: String, origin: TakeOrigin) {
        self.stem = stem
        self.origin = origin
    }

    /// A take whose kit is unknown.
    public init(stem: String) { self.init(stem: stem, origin: .stem(stem)) }

    /// Whether both may be the same take. If the kit of one of them is unknown, it may be any take with the same stem.
    public func mayBe(_ other: TakeIdentity) -> Bool {
        guard stem == other.stem, origin.kitID != nil, other.origin.kitID != nil else { return stem == other.stem }
        return origin == other.origin
    }
}

extension Sidecar {
    public var identity: TakeIdentity { TakeIdentity(stem: take, number: number, kitID: kitID) }
}

extension CatalogedTake {
    public var identity: TakeIdentity { TakeIdentity(stem: take, number: number, kitID: kitID) }
}
