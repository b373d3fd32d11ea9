import Transport

// A refusal's reason on a control socket.
extension Refusal.Reason {
    /// The values as an object.
    var json: JSONValue {
        .object(
            values.mapValues { value -> JSONValue in
                switch value {
                case .text(let text): .string(text)
                case .number(let number): .integer(number)
                }
            })
    }

    /// - Parameter members: the values. Those of other types are left out.
    init(_ name: String, reading members: [String: JSONValue]) {
        self.init(
            name,
            members.compactMapValues { value -> Value? in
                if let number = value.integer { return .number(number) }
                return value.text.map { .text($0) }
            })
    }
}
