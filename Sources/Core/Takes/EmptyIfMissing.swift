/// A list that reads as empty where its key is missing, as in sidecars of earlier versions.
@propertyWrapper
public struct EmptyIfMissing<Element: Codable & Sendable>: Codable, Sendable {
    /// The list.
    public var wrappedValue: [Element]

    /// Wraps a list.
    public init(wrappedValue: [Element] = []) {
        self.wrappedValue = wrappedValue
    }

    /// Reads a list.
    public init(from decoder: any Decoder) throws {
        wrappedValue = try decoder.singleValueContainer().decode([Element].self)
    }

    /// Writes the list.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(wrappedValue)
    }
}

extension EmptyIfMissing: Equatable where Element: Equatable {}

extension KeyedDecodingContainer {
    /// A key that is missing reads as an empty list.
    public func decode<Element>(
        _ type: EmptyIfMissing<Element>.Type, forKey key: Key
    ) throws -> EmptyIfMissing<Element> {
        try decodeIfPresent(type, forKey: key) ?? EmptyIfMissing()
    }
}
