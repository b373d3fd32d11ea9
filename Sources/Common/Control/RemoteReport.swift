public import Takes
import Transport

/// A request to a store.
///
/// A list and a file come in pieces. The reply has the first piece, and `next` requests each further one. A peer can
/// fetch only one list or file at a time: another request ends the previous one.
public enum RemoteRequest: Hashable, Sendable {
    /// All files of takes in the store. Nil means the only store.
    case list(store: String?)
    /// The content of a file, `DAY/FILE`.
    case get(store: String?, path: String)
    /// Deletes a file, `DAY/FILE`. Its take is not sent any more.
    case delete(store: String?, path: String)
    /// The files that the kit sent to the store, from its receipts: all files, or the files of the take that `DAY/FILE`
    /// belongs to. A file has several entries if a later upload of changed content got no answer. The paths have no
    /// day.
    case sent(store: String?, path: String?)
    case next
}

/// A piece of a store's reply.
public struct RemotePiece: Codable, Hashable, Sendable {
    /// The store's name, as in receipts.
    public var store: String
    /// The files of a list.
    public var objects: [RemoteObject]?
    /// The bytes of a file, in base64.
    public var data: String?
    /// The hash of the whole file, hexadecimal, in its last piece.
    public var sha256: String?
    public var isLast: Bool

    public init(
        store: String, objects: [RemoteObject]? = nil, data: String? = nil, sha256: String? = nil, isLast: Bool
    ) {
        self.store = store
        self.objects = objects
        self.data = data
        self.sha256 = sha256
        self.isLast = isLast
    }

    enum CodingKeys: String, CodingKey {
        case store, objects, data, sha256
        case isLast = "last"
    }
}

/// A file of a take in a store.
public struct RemoteObject: Codable, Hashable, Sendable {
    /// For example `2026-11-21/heron07-0042_20261121_061811.wav`.
    public var path: String
    public var bytes: Int64
    /// The store's hash of the file, hexadecimal, or null if the store gives none.
    @ExplicitNull public var sha256: String?
    /// When its take began, ISO 8601, or null if the list lacks it.
    @ExplicitNull public var started: String?
    /// The duration of its take, or null if the list lacks it.
    @ExplicitNull public var durationSeconds: Double?

    public init(path: String, bytes: Int64, sha256: String?, started: String?, durationSeconds: Double?) {
        self.path = path
        self.bytes = bytes
        self.sha256 = sha256
        self.started = started
        self.durationSeconds = durationSeconds
    }

    enum CodingKeys: String, CodingKey {
        case path, bytes, sha256, started
        case durationSeconds = "duration_seconds"
    }
}

extension RemoteRequest {
    static let names = ["remote-list", "remote-get", "remote-delete", "remote-sent", "remote-next"]

    init?(_ name: String, _ keys: RequestKeys) throws(Refusal) {
        switch name {
        case "remote-list": self = .list(store: try keys.store())
        case "remote-get": self = .get(store: try keys.store(), path: try keys.path())
        case "remote-delete": self = .delete(store: try keys.store(), path: try keys.path())
        case "remote-sent":
            let path: String? = if keys.members["path"] == nil { nil } else { try keys.path() }
            self = .sent(store: try keys.store(), path: path)
        case "remote-next": self = .next
        default: return nil
        }
    }

    var members: [String: JSONValue] {
        switch self {
        case .list(let store): members("remote-list", store, nil)
        case .get(let store, let path): members("remote-get", store, path)
        case .delete(let store, let path): members("remote-delete", store, path)
        case .sent(let store, let path): members("remote-sent", store, path)
        case .next: members("remote-next", nil, nil)
        }
    }

    private func members(_ name: String, _ store: String?, _ path: String?) -> [String: JSONValue] {
        var members: [String: JSONValue] = ["command": .string(name)]
        members["store"] = store.map { .string($0) }
        members["path"] = path.map { .string($0) }
        return members
    }
}

extension RequestKeys {
    func store() throws(Refusal) -> String? {
        try optional("store", "the name of a store, or how it begins") { value in
            value.text.flatMap { (1...1000).contains($0.utf8.count) ? $0 : nil }
        }
    }

    fileprivate func path() throws(Refusal) -> String {
        try required("path", "a file of a take, such as \"2026-11-21/heron07-0042_20261121_061811.wav\"") { value in
            value.text.flatMap { (1...200).contains($0.utf8.count) ? $0 : nil }
        }
    }
}
