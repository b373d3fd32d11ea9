public import Takes
import Transport

/// What can be asked of a store.
///
/// A list and a file come in pieces: the first one answers the request, and `next` asks for each further one. A peer draws one of them at a
/// time: another request ends it.
public enum RemoteRequest: Hashable, Sendable {
    /// All files of takes that are there. nil: of the only store.
    case list(store: String?)
    /// The content of a file, `DAY/FILE`.
    case get(store: String?, path: String)
    /// Deletes a file, `DAY/FILE`. Its take is not sent any more.
    case delete(store: String?, path: String)
    /// What the kit sent there, by its receipts: all files, or those of the take that `DAY/FILE` is of. A file has several entries if a later
    /// content was sent without an answer. Their paths have no day.
    case sent(store: String?, path: String?)
    /// The next piece.
    case next
}

/// A piece of what a store was asked for.
public struct RemotePiece: Codable, Hashable, Sendable {
    /// The store, as receipts name it.
    public var store: String
    /// Files, of a list.
    public var objects: [RemoteObject]?
    /// Bytes, of a file, in base64.
    public var data: String?
    /// The hash of all bytes, hexadecimal, at the end of a file.
    public var sha256: String?
    /// Whether it is the last piece.
    public var isLast: Bool

    /// A piece.
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
    /// `2026-11-21/heron07-0042_20261121_061811.wav`.
    public var path: String
    /// How long it is.
    public var bytes: Int64
    /// Its hash as the store says, hexadecimal; null: it says none.
    @ExplicitNull public var sha256: String?
    /// When its take began, ISO 8601; null: the list does not have it.
    @ExplicitNull public var started: String?
    /// How long its take is; null: the list does not have it.
    @ExplicitNull public var durationSeconds: Double?

    /// A file.
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
    /// The names of the requests.
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
