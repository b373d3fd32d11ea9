/// A flag of the status that older recorders do not send. It decodes as false if its key is missing.
@propertyWrapper
public struct FalseUnlessSent: Codable, Hashable, Sendable {
    public var wrappedValue: Bool

    public init(wrappedValue: Bool) {
        self.wrappedValue = wrappedValue
    }

    public init(from decoder: any Decoder) throws {
        wrappedValue = try decoder.singleValueContainer().decode(Bool.self)
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(wrappedValue)
    }
}

extension KeyedDecodingContainer {
    /// Decodes a missing key as false.
    public func decode(_ type: FalseUnlessSent.Type, forKey key: Key) throws -> FalseUnlessSent {
        try decodeIfPresent(type, forKey: key) ?? FalseUnlessSent(wrappedValue: false)
    }
}
