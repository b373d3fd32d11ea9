public import Transport

// The reply to `pairing-code`.
extension PairingWindow.Answer {
    var members: [String: JSONValue] {
        switch self {
        case .accepted: ["code": .string("accepted")]
        case .wrong(let left): ["code": .string("wrong"), "left": .integer(left)]
        case .lastWrong: ["code": .string("last-wrong")]
        case .closed: ["code": .string("closed")]
        }
    }

    /// Reads a reply, or returns nil if it has no pairing answer.
    public init?(_ reply: JSONValue) {
        switch (reply["code"]?.text, reply["left"]?.integer) {
        case ("accepted", _): self = .accepted
        case ("wrong", let left?): self = .wrong(left: left)
        case ("last-wrong", _): self = .lastWrong
        case ("closed", _): self = .closed
        default: return nil
        }
    }
}
