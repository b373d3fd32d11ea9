public import Transport

// As the reply to `pairing-code` has it.
extension PairingWindow.Answer {
    /// The keys of the reply.
    var members: [String: JSONValue] {
        switch self {
        case .accepted: ["code": .string("accepted")]
        case .wrong(let left): ["code": .string("wrong"), "left": .integer(left)]
        case .lastWrong: ["code": .string("last-wrong")]
        case .closed: ["code": .string("closed")]
        }
    }

    /// Reads a reply; nil: it has no such answer.
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
