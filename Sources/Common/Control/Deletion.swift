public import Transport

/// The copies of a take that a person wants deleted.
public struct Deletion: Hashable, Sendable {
    public var place: Place
    /// Refuses the deletion if one of the copies at home no longer exists. Applies to `here` only.
    public var onlyIfHome = false
    /// The only store to delete from, or nil for all that may have the take.
    public var store: String?
    /// Whether the copy on the kit is deleted for good instead of moved into the bin. Stores have no bin.
    public var isFinal = false

    public enum Place: String, Sendable, CaseIterable {
        case here
        case there
        /// On the kit and in each store.
        case both
    }

    public init(_ place: Place, onlyIfHome: Bool = false, store: String? = nil, isFinal: Bool = false) {
        self.place = place
        self.onlyIfHome = onlyIfHome
        self.store = store
        self.isFinal = isFinal
    }
}

extension Deletion {
    /// Reads `where` and `left`, which both interfaces use.
    /// - Parameters:
    ///   - place: `here`, `there` or `both`. Nil is refused, because the copies to delete are never guessed.
    ///   - left: `home` to delete only if home has the take, or nil to delete in any case.
    ///   - store: the only store to delete from, or nil for all.
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
