package import Transport

/// The keys of a request. Each is read with a description of its allowed values.
struct RequestKeys {
    let members: [String: JSONValue]
    private let command: String

    init(_ members: [String: JSONValue]) {
        self.init(members, of: members["command"]?.text ?? "control")
    }

    /// - Parameter command: the request's name, with which a refusal begins.
    init(_ members: [String: JSONValue], of command: String) {
        self.members = members
        self.command = command
    }

    /// Reads a key that may be missing or null.
    /// - Parameter reason: the refusal's reason if the value is not allowed.
    func optional<Value>(
        _ key: String, _ allowed: String, reason: Refusal.Reason? = nil, _ read: (JSONValue) -> Value?
    ) throws(Refusal) -> Value? {
        guard let found = members[key], found != .null else { return nil }
        return try check(key, found, allowed, reason: reason, read)
    }

    /// - Parameter reason: the refusal's reason if the value is not allowed.
    func required<Value>(
        _ key: String, _ allowed: String, reason: Refusal.Reason? = nil, _ read: (JSONValue) -> Value?
    ) throws(Refusal) -> Value {
        guard let found = members[key] else {
            throw Refusal(.usage, "\(command): \(key) is missing, allowed is \(allowed)")
        }
        return try check(key, found, allowed, reason: reason, read)
    }

    func check<Value>(
        _ key: String, _ found: JSONValue, _ allowed: String, reason: Refusal.Reason? = nil,
        _ read: (JSONValue) -> Value?
    ) throws(Refusal) -> Value {
        guard let value = read(found) else {
            throw Refusal(.usage, "\(command): \(key): found \(found.excerpt), allowed is \(allowed)", reason)
        }
        return value
    }

    static let time = "a time such as \"2026-11-21T06:18:11Z\""
    fileprivate static let takes = "a take's stem, its number, or \"last\""

    fileprivate static func take(_ value: JSONValue) -> TakeReference? {
        if case .number = value { return value.integer.flatMap { $0 > 0 ? .number($0) : nil } }
        // A refusal repeats the reference, and no stem is longer than 100 bytes.
        return value.text.flatMap { (1...100).contains($0.utf8.count) ? TakeReference($0) : nil }
    }

    func take() throws(Refusal) -> TakeReference? {
        try optional("take", Self.takes, Self.take)
    }

    func requiredTake() throws(Refusal) -> TakeReference {
        try required("take", Self.takes, Self.take)
    }
}

extension TakeReference {
    /// Reads a take's stem, its number, or `last`.
    /// - Parameter command: the request's name, with which a refusal begins.
    package init(reading text: String, for command: String) throws(Refusal) {
        self = try RequestKeys([:], of: command).check("take", .string(text), RequestKeys.takes, RequestKeys.take)
    }

    var json: JSONValue {
        switch self {
        case .number(let number): .integer(number)
        case .stem(let stem): .string(stem)
        case .last: .string("last")
        }
    }
}
