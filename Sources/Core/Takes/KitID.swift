/// What a kit is known by, whatever it is called: 32 lower-case hexadecimal digits, made from a key that the kit keeps.
public struct KitID: Hashable, Sendable, Codable, CustomStringConvertible {
    /// The digits.
    public let description: String

    /// Returns nil for a text that is not 32 lower-case hexadecimal digits.
    public init?(_ text: String) {
        let isDigit = { (byte: UInt8) in (0x30...0x39).contains(byte) || (0x61...0x66).contains(byte) }
        guard text.utf8.count == 32, text.utf8.allSatisfy(isDigit) else { return nil }
        description = text
    }

    /// Reads the digits.
    /// - Throws: `DecodingError`, for any other text.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        guard let id = KitID(try container.decode(String.self)) else {
            throw DecodingError.dataCorruptedError(in: container, debugDescription: "not 32 hexadecimal digits")
        }
        self = id
    }

    /// Writes the digits.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(description)
    }
}

extension KeyedDecodingContainer {
    /// What is not the id of a kit reads as nil, and so does a key that is missing: a take is worth more than its kit's id.
    public func decode(_ type: ExplicitNull<KitID>.Type, forKey key: Key) throws -> ExplicitNull<KitID> {
        ExplicitNull(wrappedValue: (try? decodeIfPresent(String.self, forKey: key)).flatMap(\.self).flatMap(KitID.init))
    }
}
