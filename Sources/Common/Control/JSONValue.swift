public import FoundationEssentials

/// Any JSON value. A value that is read and written again keeps its meaning; only its spelling may change.
public enum JSONValue: Hashable, Sendable {
    case null
    case bool(Bool)
    /// Decimal, so that long whole numbers and fractions stay exact.
    case number(Decimal)
    case string(String)
    case array([JSONValue])
    case object([String: JSONValue])

    public static func integer(_ value: Int) -> JSONValue {
        .number(Decimal(value))
    }

    /// A number. The result is null if the value is not finite, which JSON cannot express, or is 1e128 or more, and 0
    /// if it is too small for a decimal.
    public static func double(_ value: Double) -> JSONValue {
        (try? JSONValue(encoding: value)) ?? .null
    }

    /// Encodes `value` as JSON.
    ///
    /// - Throws: `EncodingError`, such as for a number that is not finite; `DecodingError` if `decoding` would throw.
    public init(encoding value: some Encodable) throws {
        self = try JSONDecoder().decode(JSONValue.self, from: JSONEncoder().encode(value))
    }

    /// Reads one JSON text.
    ///
    /// If a key occurs twice, the first one counts. A number keeps 38 digits.
    /// - Throws: `DecodingError` if it is not JSON, holds a number of 1e128 or more, or has more than `deepest` levels.
    public init(decoding bytes: some Sequence<UInt8>) throws {
        self = try JSONDecoder().decode(JSONValue.self, from: Data(bytes))
    }

    /// The deepest nesting of arrays and objects; a list of cards needs six levels. Deep nesting is slow to read: a
    /// line of 64 KiB full of arrays takes a second at the 32nd level, and a seventh of that at the eighth.
    public static let deepest = 8

    /// The value of `key`, or nil if the object lacks it or this is not an object.
    public subscript(key: String) -> JSONValue? {
        guard case .object(let members) = self else { return nil }
        return members[key]
    }

    public var text: String? {
        guard case .string(let text) = self else { return nil }
        return text
    }

    public var double: Double? {
        guard case .number(let number) = self else { return nil }
        return Double("\(number)")
    }

    /// The value of a number that is whole and fits into an `Int`.
    public var integer: Int? {
        guard case .number(let number) = self else { return nil }
        return Int("\(number)")
    }

    public var bool: Bool? {
        guard case .bool(let bool) = self else { return nil }
        return bool
    }

    public var isScalar: Bool {
        switch self {
        case .null, .bool, .number, .string: true
        case .array, .object: false
        }
    }
}

extension JSONValue: Codable {
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if container.decodeNil() {
            self = .null
        } else if let number = try? container.decode(Decimal.self) {
            self = .number(number)
        } else if let small = try? container.decode(Double.self), abs(small) < 1 {
            // Decimal has no exponent below -128.
            self = .number(0)
        } else if let string = try? container.decode(String.self) {
            self = .string(string)
        } else if let bool = try? container.decode(Bool.self) {
            self = .bool(bool)
        } else if decoder.codingPath.count >= Self.deepest {
            throw DecodingError.dataCorruptedError(
                in: container, debugDescription: "there are more than \(Self.deepest) levels")
        } else if let members = try? container.decode([String: JSONValue].self) {
            self = .object(members)
        } else {
            self = .array(try container.decode([JSONValue].self))
        }
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        switch self {
        case .null: try container.encodeNil()
        case .bool(let bool): try container.encode(bool)
        case .number(let number): try container.encode(number)
        case .string(let string): try container.encode(string)
        case .array(let elements): try container.encode(elements)
        case .object(let members): try container.encode(members)
        }
    }
}

extension JSONValue: CustomStringConvertible {
    /// JSON on one line, with the keys in order.
    public var description: String {
        jsonText(self) ?? "null"
    }
}

/// JSON on one line, with the keys in alphabetical order, or nil if the value cannot be encoded, such as a number that
/// is not finite.
public func jsonText(_ value: some Encodable) -> String? {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    return (try? encoder.encode(value)).map { String(decoding: $0, as: UTF8.self) }
}

extension JSONValue {
    /// The beginning of the value, enough to recognise it in a sentence.
    public var excerpt: String {
        let text = description
        return text.count <= 40 ? text : text.prefix(39) + "…"
    }
}
