/// A list that decodes as empty if its key is missing, as in sidecars of earlier versions.
@propertyWrapper
public struct EmptyIfMissing<Element: Codable & Sendable>: Codable, Sendable {
    public var wrappedValue: [Element]

    public init(wrappedValue: [Element] = []) {
        self.wrappedValue = wrappedValue
    }

    public init(from decoder: any Decoder) throws {
        wrappedValue = try decoder.singleValueContainer().decode([Element].self)
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(wrappedValue)
    }
}

extension EmptyIfMissing: Equatable where Element: Equatable {}

extension KeyedDecodingContainer {
    /// Decodes a missing key as an empty list.
    public func decode<Element>(
        _ type: EmptyIfMissing<Element>.Type, forKey key: Key
    ) throws -> EmptyIfMissing<Element> {
        EmptyIfMissing(wrappedValue: try decodeIfPresent([Element].self, forKey: key) ?? [])
    }
}
