public import FoundationEssentials

/// Any JSON value. What is passed on is what was sent, up to how it was written.
public enum JSONValue: Hashable, Sendable {
    case null
    case bool(Bool)
    /// A number; decimal, so that neither a long whole number nor a fraction changes on its way.
    case number(Decimal)
    case string(String)
    case array([JSONValue])
    case object([String: JSONValue])

    /// A whole number.
    public static func integer(_ value: Int) -> JSONValue {
        .number(Decimal(value))
    }

    /// A number; null if it is not finite, since JSON has no other, or is 1e128 or more; 0 if it is too small for a decimal.
    public static func double(_ value: Double) -> JSONValue {
        (try? JSONValue(encoding: value)) ?? .null
    }

    /// What `value` is as JSON.
    ///
    /// - Throws: `EncodingError`, such as for a number that is not finite; `DecodingError` if `decoding` would throw.
    public init(encoding value: some Encodable) throws {
        self = try JSONDecoder().decode(JSONValue.self, from: JSONEncoder().encode(value))
    }

    /// Reads one JSON text.
    ///
    /// Of a key that comes twice, the first counts. A number keeps 38 digits.
    /// - Throws: `DecodingError` if it is not JSON, holds a number of 1e128 or more, or has more than `deepest` levels.
    public init(decoding bytes: some Sequence<UInt8>) throws {
        self = try JSONDecoder().decode(JSONValue.self, from: Data(bytes))
    }

    /// Arrays and objects inside each other, at most; a list of cards has six. What lies deep takes long to read: a line
    /// of 64 KiB that is full of arrays at the 32nd level takes a second, at the eighth a seventh of one.
    public static let deepest = 8

    /// The value of `key` in an object; nil if there is none, or this is no object.
    public subscript(key: String) -> JSONValue? {
        guard case .object(let members) = self else { return nil }
        return members[key]
    }

    /// The text of a string.
    public var text: String? {
        guard case .string(let text) = self else { return nil }
        return text
    }

    /// The value of a number.
    public var double: Double? {
        guard case .number(let number) = self else { return nil }
        return Double("\(number)")
    }

    /// The value of a number that is whole and fits.
    public var integer: Int? {
        guard case .number(let number) = self else { return nil }
        return Int("\(number)")
    }

    /// The value of a boolean.
    public var bool: Bool? {
        guard case .bool(let bool) = self else { return nil }
        return bool
    }

    /// Neither an array nor an object.
    public var isScalar: Bool {
        switch self {
        case .null, .bool, .number, .string: true
        case .array, .object: false
        }
    }
}

extension JSONValue: Codable {
    /// Takes whatever comes.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if container.decodeNil() {
            self = .null
        } else if let number = try? container.decode(Decimal.self) {
            self = .number(number)
        } else if let small = try? container.decode(Double.self), abs(small) < 1 {
            // A decimal has no exponent below -128.
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

    /// Writes itself, not a description of itself.
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
    /// JSON on one line, keys in order.
    public var description: String {
        jsonText(self) ?? "null"
    }
}

/// A value as JSON on one line, keys in the order of the alphabet; nil: it cannot be written, such as a number that is none.
public func jsonText(_ value: some Encodable) -> String? {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    return (try? encoder.encode(value)).map { String(decoding: $0, as: UTF8.self) }
}

extension JSONValue {
    /// Enough of the value to recognise it in a sentence.
    public var excerpt: String {
        let text = description
        return text.count <= 40 ? text : text.prefix(39) + "…"
    }
}
