public import Transport

/// Which copies of a take a person wants deleted.
public struct Deletion: Hashable, Sendable {
    /// Where.
    public var place: Place
    /// Whether the person relies on the copies at home: refused if one is not there any more. For `here` alone.
    public var onlyIfHome = false
    /// The one store that is meant; nil: all that may have the take.
    public var store: String?
    /// Whether the copy on the kit is deleted for good, and not moved into the bin. Stores have no bin.
    public var isFinal = false

    /// Where copies are.
    public enum Place: String, Sendable, CaseIterable {
        /// On the kit.
        case here
        /// In each store.
        case there
        /// In all of them.
        case both
    }

    /// A deletion.
    public init(_ place: Place, onlyIfHome: Bool = false, store: String? = nil, isFinal: Bool = false) {
        self.place = place
        self.onlyIfHome = onlyIfHome
        self.store = store
        self.isFinal = isFinal
    }
}

extension Deletion {
    /// Reads `where` and `left`, as both interfaces have them.
    /// - Parameters:
    ///   - place: `here`, `there` or `both`; nil is refused: it is never guessed which copies are to be deleted.
    ///   - left: `home`: only if home has it; nil: whatever is left.
    ///   - store: the only store that is meant.
    ///   - isFinal: whether the copy on the kit is deleted for good.
    public init(where place: String?, left: String?, store: String? = nil, isFinal: Bool = false) throws(Refusal) {
        guard let place = place.flatMap(Place.init(rawValue:)) else {
            throw Refusal(
                .usage,
                "delete: where: \(place.map { "found \(JSONValue.string($0).excerpt)" } ?? "it is missing"), allowed are here, there, both"
            )
        }
        guard left == nil || left == "home" else {
            throw Refusal(.usage, "delete: left: found \(JSONValue.string(left ?? "").excerpt), allowed is home")
        }
        guard left == nil || place == .here else {
            throw Refusal(.busy, "delete: left: home cannot be left where its copy is deleted: ask with where=here")
        }
        guard store == nil || place != .here else {
            throw Refusal(.usage, "delete: store: is not allowed with where=here")
        }
        self.init(place, onlyIfHome: left != nil, store: store, isFinal: isFinal)
    }

    var members: [String: JSONValue] {
        var members: [String: JSONValue] = ["where": .string(place.rawValue)]
        if onlyIfHome { members["left"] = .string("home") }
        if isFinal { members["now"] = .bool(true) }
        if let store { members["store"] = .string(store) }
        return members
    }
}
