public import Transport

/// A request to one service: a JSON object whose key `command` names it.
public protocol PeerMessage: Hashable, Sendable {
    static var service: Service { get }

    /// The names of all requests, the values of the key `command`.
    static var names: [String] { get }

    /// Reads a request. Unknown keys are ignored.
    /// - Throws: code usage, with the key and its allowed values.
    init(_ members: [String: JSONValue]) throws(Refusal)

    var members: [String: JSONValue] { get }
}

extension PeerMessage {
    /// The refusal of an unknown or missing command.
    static func unknown(_ command: JSONValue?) -> Refusal {
        let problem = command.map { "command: found \($0.excerpt)" } ?? "command is missing"
        return Refusal(.usage, "control: \(problem), allowed are \(names.joined(separator: ", "))")
    }
}
