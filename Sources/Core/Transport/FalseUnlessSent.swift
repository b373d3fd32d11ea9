/// A flag of the status that recorders of before it was added do not send: it is false there.
@propertyWrapper
public struct FalseUnlessSent: Codable, Hashable, Sendable {
    /// The flag.
    public var wrappedValue: Bool

    /// Wraps a flag.
    public init(wrappedValue: Bool) {
        self.wrappedValue = wrappedValue
    }

    /// Reads a flag.
    public init(from decoder: any Decoder) throws {
        wrappedValue = try decoder.singleValueContainer().decode(Bool.self)
    }

    /// Writes the flag.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(wrappedValue)
    }
}

extension KeyedDecodingContainer {
    /// A key that is missing reads as false.
    public func decode(_ type: FalseUnlessSent.Type, forKey key: Key) throws -> FalseUnlessSent {
        try decodeIfPresent(type, forKey: key) ?? FalseUnlessSent(wrappedValue: false)
    }
}
