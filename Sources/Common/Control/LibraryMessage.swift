public import Takes
public import Transport

/// A request to the library.
public enum LibraryMessage: PeerMessage {
    /// The number of takes by place, and whether the scan is still running.
    case status
    case takes(TakeQuery)
    /// A take with its notes and its sidecar.
    case show(TakeReference)
    case change(TakeReference, NotesChange)
    case delete(stem: String, Deletion)
    /// Accepts a take whose sound differs from the recording.
    case acceptDamaged(stem: String)
    /// The state of the outbox, with at most `limit` takes.
    case outbox(limit: Int)
    case outboxWish(OutboxWish)
    case outboxDecision(OutboxDecision, TakeReference)
    /// A request to a store.
    case remote(RemoteRequest)
    /// The code for pairing phones. `isNew` makes a new one first.
    case pairingCode(isNew: Bool)
    /// Adopts the stick that is plugged in.
    case adoptStick

    /// The number of takes in an outbox report, unless the request gives another.
    public static let outboxLimit = 50
}

extension LibraryMessage {
    public static let service = Service.library

    /// The names of all requests, the values of the key `command`.
    public static let names =
        ["status", "takes", "show"] + NotesChange.Kind.allCases.map(\.rawValue)
        + ["delete", "accept-damaged", "outbox"] + OutboxWish.allCases.map(\.rawValue)
        + OutboxDecision.allCases.map(\.rawValue) + RemoteRequest.names + ["pairing-code", "stick-adopt"]

    public init(_ members: [String: JSONValue]) throws(Refusal) {
        let keys = RequestKeys(members)
        switch members["command"]?.text {
        case "status": self = .status
        case "takes": self = .takes(try TakeQuery(members))
        case "show": self = .show(try keys.requiredTake())
        case "delete":
            self = .delete(
                stem: try keys.stem(),
                try Deletion(
                    where: members["where"]?.text, left: try keys.optional("left", "\"home\"", \.text),
                    store: try keys.store(), isFinal: try keys.optional("now", "true or false", \.bool) ?? false))
        case "accept-damaged": self = .acceptDamaged(stem: try keys.stem())
        case "outbox": self = .outbox(limit: try Self.outboxLimit(members))
        case "pairing-code":
            self = .pairingCode(isNew: try keys.optional("new", "true or false", \.bool) ?? false)
        case "stick-adopt": self = .adoptStick
        case let name?:
            if let kind = NotesChange.Kind(rawValue: name) {
                self = .change(try keys.requiredTake(), try NotesChange(kind, members))
            } else if let wish = OutboxWish(rawValue: name) {
                self = .outboxWish(wish)
            } else if let decision = OutboxDecision(rawValue: name) {
                self = .outboxDecision(decision, try keys.requiredTake())
            } else if let request = try RemoteRequest(name, keys) {
                self = .remote(request)
            } else {
                throw Self.unknown(members["command"])
            }
        case nil: throw Self.unknown(members["command"])
        }
    }

    /// Reads the limit for the takes in a report of the outbox. Other keys are ignored.
    package static func outboxLimit(_ members: [String: JSONValue]) throws(Refusal) -> Int {
        try RequestKeys(members, of: "outbox").limit() ?? outboxLimit
    }

    public var members: [String: JSONValue] {
        switch self {
        case .status: ["command": .string("status")]
        case .takes(let query): query.members
        case .show(let take): ["command": .string("show"), "take": take.json]
        case .change(let take, let change):
            change.members.merging(["command": .string(change.kind.rawValue), "take": take.json]) { $1 }
        case .delete(let stem, let deletion):
            ["command": .string("delete"), "take": .string(stem)].merging(deletion.members) { $1 }
        case .acceptDamaged(let stem): ["command": .string("accept-damaged"), "take": .string(stem)]
        case .outbox(let limit): ["command": .string("outbox"), "limit": .integer(limit)]
        case .outboxWish(let wish): ["command": .string(wish.rawValue)]
        case .outboxDecision(let decision, let take): ["command": .string(decision.rawValue), "take": take.json]
        case .remote(let request): request.members
        case .pairingCode(let isNew):
            ["command": .string("pairing-code"), "new": isNew ? .bool(true) : nil].compactMapValues(\.self)
        case .adoptStick: ["command": .string("stick-adopt")]
        }
    }
}

extension TakeQuery {
    /// The keys that differ from a query for all takes.
    fileprivate var members: [String: JSONValue] {
        let all = TakeQuery()
        var members: [String: JSONValue] = ["command": .string("takes")]
        members["text"] = text.map { .string($0) }
        members["q"] = typed.map { .string($0) }
        members["tag"] = tag.map { .string($0) }
        members["starred"] = isStarred.map { .bool($0) }
        members["marker"] = marker.map { .string($0) }
        members["label"] = label.map { .string($0) }
        members["since"] = since.map { .string($0.iso8601) }
        members["until"] = until.map { .string($0.iso8601) }
        members["hour_from"] = fromHour.map { .double($0) }
        members["hour_to"] = toHour.map { .double($0) }
        members["zone"] = zone.map { .string($0) }
        members["least_seconds"] = leastSeconds.map { .double($0) }
        members["most_seconds"] = mostSeconds.map { .double($0) }
        members["louder"] = leastPeakDBFS.map { .double($0) }
        members["kit"] = kit.map { .string($0) }
        members["place"] = place.map { .string($0.rawValue) }
        members["upload"] = upload.map { .string($0.rawValue) }
        members["damaged"] = isDamaged.map { .bool($0) }
        if order != all.order { members["order"] = .string(order.rawValue) }
        if isDescending != all.isDescending { members["descending"] = .bool(isDescending) }
        if limit != all.limit { members["limit"] = .integer(limit) }
        members["after"] = after.map { .string($0) }
        if isCounted { members["counted"] = .bool(true) }
        return members
    }
}
