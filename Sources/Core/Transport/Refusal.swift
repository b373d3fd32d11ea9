/// The reason why a command was not carried out.
public struct Refusal: Error, Sendable {
    public var code: Code
    /// One sentence.
    public var message: String
    /// The same for a page in another language, or nil if a person does not meet this refusal on the page.
    public var reason: Reason?

    /// The kinds of reasons, as the control socket names them.
    public enum Code: String, Codable, Sendable, CaseIterable {
        case usage
        case badData = "bad-data"
        case notFound = "not-found"
        case busy, denied, io, `internal`

        /// The exit status of a command that is refused for this reason, after `sysexits.h`.
        public var exitStatus: Int32 {
            switch self {
            case .usage: 64
            case .badData: 65
            case .notFound: 66
            case .internal: 70
            case .io: 74
            case .busy: 75
            case .denied: 77
            }
        }
    }

    /// The meaning of a sentence, by a name that stays, such as `nothing-played`, and the sentence's parts.
    /// The pages have a text for each name.
    public struct Reason: Hashable, Sendable {
        public var name: String
        public var values: [String: Value]

        public enum Value: Hashable, Sendable {
            case text(String)
            case number(Int)
        }

        public init(_ name: String, _ values: [String: Value] = [:]) {
            self.name = name
            self.values = values
        }
    }

    public init(_ code: Code, _ message: String, _ reason: Reason? = nil) {
        self.code = code
        self.message = message
        self.reason = reason
    }
}

/// The reason repeats what the message says, so it does not count.
extension Refusal: Hashable {
    public static func == (left: Refusal, right: Refusal) -> Bool {
        left.code == right.code && left.message == right.message
    }

    public func hash(into hasher: inout Hasher) {
        hasher.combine(code)
        hasher.combine(message)
    }
}

extension Refusal.Reason.Value: Encodable {
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        switch self {
        case .text(let text): try container.encode(text)
        case .number(let number): try container.encode(number)
        }
    }
}
