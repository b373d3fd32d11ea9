import Testing

@testable import Control

@Suite struct JSONReaderTests {
    private func read(_ text: String) throws -> JSONValue {
        try JSONReader.read(Array(text.utf8)[...])
    }

    @Test(arguments: [
        ("null", "null"), (" true ", "true"), ("\tfalse\r", "false"), ("0", "0"), ("-0", "-0"),
        ("-12.50e+3", "-12.50e+3"),
        ("12345678901234567890123", "12345678901234567890123"), ("1e999", "1e999"), (#""""#, #""""#),
        (#""a\"\\\/\b\f\n\r\tä""#, #""a\"\\/\#u{0008}\#u{000c}\n\r\tä""#), (#""\u00e4\u20ac\ud834\udd1e""#, #""ä€𝄞""#),
        ("[]", "[]"), ("[ 1 , [2] ]", "[1,[2]]"), ("{}", "{}"),
        (#"{"b":1,"a":{"c":null}}"#, #"{"a":{"c":null},"b":1}"#),
        (#"{"a":1,"a":2}"#, #"{"a":2}"#),
    ])
    func `what is JSON is read and written again as it was`(text: String, written: String) throws {
        let expected = written.replacing("\u{0008}", with: "\\u0008").replacing("\u{000c}", with: "\\u000c")
        #expect(try read(text).description == expected)
    }

    @Test(arguments: [
        ("", "a value", 1), ("nul", "a value", 1), ("{", "a key in quotes", 2), ("{\"a\"}", "':'", 5),
        ("{\"a\":1,}", "a key in quotes", 8), ("[1,]", "a value", 4), ("[1 2]", "',' or ']'", 4),
        ("{\"a\":1 \"b\":2}", "',' or '}'", 8), ("01", "the end of the line", 2), ("1.", "a digit", 3),
        ("-", "a digit", 2), ("1e", "a digit", 3), ("+1", "a value", 1), (".5", "a value", 1), ("NaN", "a value", 1),
        ("\"a", "a closing quote", 3), ("\"\u{1}\"", "no control character in a text", 2),
        ("\"\\x\"", "an escaped character", 3), ("\"\\u12g4\"", "four hexadecimal digits", 6),
        ("\"\\ud800\"", "a whole character", 8), ("\"\\udc00\"", "a whole character", 8),
        ("\"\\ud800\\u0041\"", "the second half of a character", 14), ("{} {}", "the end of the line", 4),
        ("'a'", "a value", 1), ("//", "a value", 1),
    ])
    func `what is not JSON is told with its place`(text: String, expected: String, column: Int) {
        #expect(throws: JSONReader.Problem(expected: expected, column: column)) { try read(text) }
    }

    @Test func `bytes that are no text are refused`() {
        let bytes: [UInt8] = [0x22, 0xc3, 0x28, 0x22]
        #expect(throws: JSONReader.Problem(expected: "text in UTF-8", column: 2)) { try JSONReader.read(bytes[...]) }
    }

    @Test func `nesting has an end`() throws {
        func nested(_ depth: Int) -> String {
            String(repeating: "[", count: depth) + String(repeating: "]", count: depth)
        }
        #expect(try read(nested(32)).description == nested(32))
        #expect(throws: JSONReader.Problem(expected: "at most 32 levels", column: 33)) { try read(nested(33)) }
        #expect(throws: JSONReader.Problem.self) { try read(String(repeating: "[", count: 65536)) }
        #expect(throws: JSONReader.Problem.self) { try read(String(repeating: "{\"a\":", count: 13000)) }
    }

    @Test func `any prefix of a request and any byte in it is read or refused, and never crashes`() {
        let request = Array(#"{"id":"\u00e4\ud834\udd1e","command":"skip","seconds":-5.5e-1,"x":[true,null,{}]}"#.utf8)
        var readable = 0
        for length in 0...request.count {
            if (try? JSONReader.read(request[..<length])) != nil { readable += 1 }
        }
        #expect(readable == 1)
        for index in request.indices {
            for byte in UInt8.min...UInt8.max {
                var changed = request
                changed[index] = byte
                if let value = try? JSONReader.read(changed[...]) {
                    let again = try? JSONReader.read(Array(value.description.utf8)[...])
                    #expect(again == value)
                }
            }
        }
    }
}
