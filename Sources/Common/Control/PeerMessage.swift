public import Transport

/// What peers may ask of one service: an object whose key `command` names it.
public protocol PeerMessage: Hashable, Sendable {
    /// Who is asked.
    static var service: Service { get }

    /// The names of all requests, as the key `command` gives them.
    static var names: [String] { get }

    /// Reads what an object asks for. Keys that are not known are ignored.
    /// - Throws: code usage, with the key and what it allows.
    init(_ members: [String: JSONValue]) throws(Refusal)

    /// The keys that ask for this.
    var members: [String: JSONValue] { get }
}

extension PeerMessage {
    /// Why an object asks for nothing that there is.
    static func unknown(_ command: JSONValue?) -> Refusal {
        let problem = command.map { "command: found \($0.excerpt)" } ?? "command is missing"
        return Refusal(.usage, "control: \(problem), allowed are \(names.joined(separator: ", "))")
    }
}
