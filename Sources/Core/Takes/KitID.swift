/// The permanent id of a kit, which does not depend on its name: 32 lower-case hexadecimal digits, derived from a key
/// that the kit keeps.
public struct KitID: Hashable, Sendable, Codable, CustomStringConvertible {
    public let description: String

    /// Returns nil unless the text is 32 lower-case hexadecimal digits.
    public init?(_ text: String) {
        let isDigit = { (byte: UInt8) in (0x30...0x39).contains(byte) || (0x61...0x66).contains(byte) }
        guard text.utf8.count == 32, text.utf8.allSatisfy(isDigit) else { return nil }
        description = text
    }

    /// - Throws: `DecodingError` for any other text.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        guard let id = KitID(try container.decode(String.self)) else {
            throw DecodingError.dataCorruptedError(in: container, debugDescription: "not 32 hexadecimal digits")
        }
        self = id
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(description)
    }
}

extension KeyedDecodingContainer {
    /// Decodes a missing key, or any other text than a kit's id, as nil, because the take must stay readable without
    /// its kit's id.
    public func decode(_ type: ExplicitNull<KitID>.Type, forKey key: Key) throws -> ExplicitNull<KitID> {
        ExplicitNull(wrappedValue: (try? decodeIfPresent(String.self, forKey: key)).flatMap(\.self).flatMap(KitID.init))
    }
}
