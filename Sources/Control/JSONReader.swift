/// Reads one JSON text (RFC 8259) in time proportional to its length, whatever is in it.
///
/// Stricter than a general reader on purpose: what it reads comes from anybody who may open the socket.
struct JSONReader {
    /// Arrays and objects inside each other, at most.
    static let deepest = 32

    private let bytes: ArraySlice<UInt8>
    private var at: Int

    /// Why a text is not JSON: what was expected, and at which byte, counted from 1.
    struct Problem: Error, Hashable {
        var expected: String
        var column: Int
    }

    /// Reads `bytes`, which must hold one value and nothing else but white space.
    static func read(_ bytes: ArraySlice<UInt8>) throws(Problem) -> JSONValue {
        var reader = JSONReader(bytes: bytes, at: bytes.startIndex)
        let value = try reader.value(depth: 0)
        reader.skipSpace()
        guard reader.at == bytes.endIndex else { throw reader.problem("the end of the line") }
        return value
    }

    private func problem(_ expected: String) -> Problem {
        Problem(expected: expected, column: at - bytes.startIndex + 1)
    }

    private var next: UInt8? {
        at < bytes.endIndex ? bytes[at] : nil
    }

    private mutating func skipSpace() {
        while let byte = next, byte == 0x20 || byte == 0x09 || byte == 0x0d || byte == 0x0a { at += 1 }
    }

    private mutating func skip(_ character: Unicode.Scalar) -> Bool {
        guard next == UInt8(ascii: character) else { return false }
        at += 1
        return true
    }

    private mutating func value(depth: Int) throws(Problem) -> JSONValue {
        skipSpace()
        switch next {
        case UInt8(ascii: "{"): return try object(depth: depth + 1)
        case UInt8(ascii: "["): return try array(depth: depth + 1)
        case UInt8(ascii: "\""): return .string(try string())
        case UInt8(ascii: "t"): return try word("true", .bool(true))
        case UInt8(ascii: "f"): return try word("false", .bool(false))
        case UInt8(ascii: "n"): return try word("null", .null)
        case .some(UInt8(ascii: "-")), .some(UInt8(ascii: "0")...UInt8(ascii: "9")):
            return .number(literal: try number())
        default: throw problem("a value")
        }
    }

    private mutating func word(_ word: String, _ value: JSONValue) throws(Problem) -> JSONValue {
        guard bytes[at...].starts(with: word.utf8) else { throw problem("a value") }
        at += word.utf8.count
        return value
    }

    private mutating func object(depth: Int) throws(Problem) -> JSONValue {
        guard depth <= Self.deepest else { throw problem("at most \(Self.deepest) levels") }
        at += 1
        var members: [String: JSONValue] = [:]
        skipSpace()
        if skip("}") { return .object(members) }
        repeat {
            skipSpace()
            guard next == UInt8(ascii: "\"") else { throw problem("a key in quotes") }
            let key = try string()
            skipSpace()
            guard skip(":") else { throw problem("':'") }
            members[key] = try value(depth: depth)
            skipSpace()
        } while skip(",")
        guard skip("}") else { throw problem("',' or '}'") }
        return .object(members)
    }

    private mutating func array(depth: Int) throws(Problem) -> JSONValue {
        guard depth <= Self.deepest else { throw problem("at most \(Self.deepest) levels") }
        at += 1
        var elements: [JSONValue] = []
        skipSpace()
        if skip("]") { return .array(elements) }
        repeat {
            elements.append(try value(depth: depth))
            skipSpace()
        } while skip(",")
        guard skip("]") else { throw problem("',' or ']'") }
        return .array(elements)
    }

    private mutating func digits() throws(Problem) {
        let first = at
        while let byte = next, byte >= 0x30, byte <= 0x39 { at += 1 }
        guard at > first else { throw problem("a digit") }
    }

    private mutating func number() throws(Problem) -> String {
        let first = at
        _ = skip("-")
        if !skip("0") { try digits() }
        if skip(".") { try digits() }
        if skip("e") || skip("E") {
            if !skip("+") { _ = skip("-") }
            try digits()
        }
        return String(decoding: bytes[first..<at], as: UTF8.self)
    }

    private mutating func string() throws(Problem) -> String {
        at += 1
        var text: [UInt8] = []
        let first = at
        while let byte = next {
            switch byte {
            case UInt8(ascii: "\""):
                guard let string = String(validating: text, as: UTF8.self) else {
                    at = first
                    throw problem("text in UTF-8")
                }
                at += 1
                return string
            case UInt8(ascii: "\\"):
                at += 1
                try escape(into: &text)
            case 0..<0x20: throw problem("no control character in a text")
            default:
                text.append(byte)
                at += 1
            }
        }
        throw problem("a closing quote")
    }

    private mutating func escape(into text: inout [UInt8]) throws(Problem) {
        guard let byte = next else { throw problem("an escaped character") }
        at += 1
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): text.append(byte)
        case UInt8(ascii: "b"): text.append(0x08)
        case UInt8(ascii: "f"): text.append(0x0c)
        case UInt8(ascii: "n"): text.append(0x0a)
        case UInt8(ascii: "r"): text.append(0x0d)
        case UInt8(ascii: "t"): text.append(0x09)
        case UInt8(ascii: "u"):
            var code = try hexadecimal()
            if code >= 0xd800, code < 0xdc00, skip("\\"), skip("u") {
                let low = try hexadecimal()
                guard low >= 0xdc00, low < 0xe000 else { throw problem("the second half of a character") }
                code = 0x10000 + (code - 0xd800) << 10 + (low - 0xdc00)
            }
            guard let scalar = Unicode.Scalar(code) else { throw problem("a whole character") }
            text.append(contentsOf: Character(scalar).utf8)
        default:
            at -= 1
            throw problem("an escaped character")
        }
    }

    private mutating func hexadecimal() throws(Problem) -> UInt32 {
        var code: UInt32 = 0
        for _ in 0..<4 {
            guard let byte = next, let digit = Character(Unicode.Scalar(byte)).hexDigitValue, byte < 0x80 else {
                throw problem("four hexadecimal digits")
            }
            code = code << 4 | UInt32(digit)
            at += 1
        }
        return code
    }
}
