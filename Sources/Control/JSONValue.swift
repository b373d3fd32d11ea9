import FoundationEssentials

/// Any JSON value, as it came: numbers keep their digits, so that what is passed on is what was sent.
public enum JSONValue: Hashable, Sendable {
    case null
    case bool(Bool)
    /// A number as it was written.
    case number(literal: String)
    case string(String)
    case array([JSONValue])
    case object([String: JSONValue])

    /// A whole number.
    public static func integer(_ value: some BinaryInteger) -> JSONValue {
        .number(literal: String(value))
    }

    /// A number; null if it is not finite, since JSON has no other.
    public static func double(_ value: Double) -> JSONValue {
        guard value.isFinite else { return .null }
        let whole = Int64(exactly: value)
        return .number(literal: whole.map { String($0) } ?? "\(value)")
    }

    /// What `value` is as JSON.
    ///
    /// - Throws: `EncodingError`, such as for a number that is not finite.
    public init(encoding value: some Encodable) throws {
        self = try JSONReader.read(Array(JSONEncoder().encode(value))[...])
    }

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

    /// The value of a number; nil if it is none, or too large.
    public var double: Double? {
        guard case .number(let literal) = self, let value = Double(literal), value.isFinite else { return nil }
        return value
    }

    /// The value of a number that is whole and fits.
    public var integer: Int? {
        guard case .number(let literal) = self else { return nil }
        return Int(literal) ?? Double(literal).flatMap { Int(exactly: $0) }
    }

    /// The truth of a boolean.
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

extension JSONValue: CustomStringConvertible {
    /// JSON on one line, keys in order.
    public var description: String {
        var text = ""
        write(to: &text)
        return text
    }

    private func write(to text: inout String) {
        switch self {
        case .null: text += "null"
        case .bool(let bool): text += bool ? "true" : "false"
        case .number(let literal): text += literal
        case .string(let string): Self.quote(string, to: &text)
        case .array(let elements):
            text += "["
            for (index, element) in elements.enumerated() {
                if index > 0 { text += "," }
                element.write(to: &text)
            }
            text += "]"
        case .object(let members):
            text += "{"
            for (index, key) in members.keys.sorted().enumerated() {
                if index > 0 { text += "," }
                Self.quote(key, to: &text)
                text += ":"
                members[key]?.write(to: &text)
            }
            text += "}"
        }
    }

    private static func quote(_ string: String, to text: inout String) {
        text += "\""
        for scalar in string.unicodeScalars {
            switch scalar {
            case "\"": text += "\\\""
            case "\\": text += "\\\\"
            case "\n": text += "\\n"
            case "\r": text += "\\r"
            case "\t": text += "\\t"
            case "\0"..<" ":
                let digits = String(scalar.value, radix: 16)
                text += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
            default: text.unicodeScalars.append(scalar)
            }
        }
        text += "\""
    }
}
