import Transport

/// The reply to a request.
enum Reply {
    /// The keys of a status, next to `ok`.
    case status(Status)
    /// The keys of an object, given as JSON.
    case object(String)
    case list(String, JSONValue)
    case done
    case refused(Refusal)

    /// The line for the peer, without the newline: id and ok come first, then the keys.
    func line(id: JSONValue, isFirst: Bool) -> String {
        var head = "{\"id\":\(id),\"ok\":"
        let rest: String
        switch self {
        case .status(let status):
            guard let object = status.json else {
                return Reply.refused(Refusal(.internal, "control: the status cannot be written"))
                    .line(id: id, isFirst: isFirst)
            }
            return Reply.object(object).line(id: id, isFirst: isFirst)
        case .object(let object):
            guard let keys = Self.keys(of: object) else {
                return Reply.refused(Refusal(.internal, "control: the reply cannot be written"))
                    .line(id: id, isFirst: isFirst)
            }
            head += "true"
            rest = keys
        case .list(let key, let list):
            head += "true"
            rest = "\"\(key)\":\(list)"
        case .done:
            head += "true"
            rest = ""
        case .refused(let refusal):
            head += "false"
            let reason = refusal.reason.map { ",\"reason\":\"\($0.name)\",\"values\":\($0.json)" } ?? ""
            let message = JSONValue.string(refusal.message)
            rest = "\"error\":{\"code\":\"\(refusal.code.rawValue)\",\"message\":\(message)\(reason)}"
        }
        return head + (isFirst ? ",\"protocol\":\(protocolVersion)" : "") + (rest.isEmpty ? "}" : ",\(rest)}")
    }

    /// The text between the brackets of an object, on one line, or nil if the text is not an object.
    private static func keys(of object: String) -> String? {
        let space = UInt8(ascii: " ")
        // JSON escapes a line break in a string, so every raw line break is white space.
        let bytes = object.utf8.map { $0 == UInt8(ascii: "\n") || $0 == UInt8(ascii: "\r") ? space : $0 }
        guard let first = bytes.firstIndex(where: { $0 != space }), bytes[first] == UInt8(ascii: "{"),
            let last = bytes.lastIndex(where: { $0 != space }), bytes[last] == UInt8(ascii: "}")
        else { return nil }
        let keys = bytes[(first + 1)..<last].drop { $0 == space }
        return String(decoding: keys, as: UTF8.self)
    }
}

/// The protocol version in the first reply of each connection.
public let protocolVersion = 1
