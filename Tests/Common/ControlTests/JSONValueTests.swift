import Testing

@testable import Control

@Suite struct JSONValueTests {
    private func read(_ text: String) throws -> JSONValue {
        try JSONValue(decoding: text.utf8)
    }

    @Test(arguments: [
        ("null", "null"), (" true ", "true"), ("\tfalse\r", "false"), (#""""#, #""""#),
        (#""a\"\\\/\b\f\n\r\tä\u0001""#, #""a\"\\/\b\f\n\r\tä\u0001""#), (#""\u00e4\u20ac\ud834\udd1e""#, #""ä€𝄞""#),
        ("[]", "[]"), ("[ 1 , [2] ]", "[1,[2]]"), ("{}", "{}"),
        (#"{"b":1,"a":{"c":null}}"#, #"{"a":{"c":null},"b":1}"#),
        (#"{"a":1,"a":2}"#, #"{"a":1}"#),
    ])
    func `what is JSON is read, and written on one line with its keys in order`(text: String, written: String) throws {
        #expect(try read(text).description == written)
    }

    @Test(arguments: [
        ("0", "0"), ("-0", "0"), ("5.0", "5"), ("-12.50e+3", "-12500"), ("0.1", "0.1"), ("-5.5e-1", "-0.55"),
        ("9007199254740993", "9007199254740993"), ("18446744073709551616", "18446744073709551616"),
        ("12345678901234567890123.25", "12345678901234567890123.25"),
        ("99999999999999999999999999999999999999", "99999999999999999999999999999999999999"),
        ("1e127", "1" + String(repeating: "0", count: 127)),
    ])
    func `a number is written as the same number, and a whole one without a point`(text: String, written: String) throws
    {
        #expect(try read(text).description == written)
    }

    @Test func `numbers are read as whole ones where they are, and fit`() throws {
        #expect(try read("5.0e0").integer == 5)
        #expect(try read("-9223372036854775808").integer == Int.min)
        #expect(try read("9223372036854775808").integer == nil)
        #expect(try read("5.5").integer == nil)
        #expect(try read("5.5").double == 5.5)
        #expect(try read("1e127").double == 1e127)
        #expect(try read("\"5\"").double == nil)
        #expect(JSONValue.double(0.1) == (try read("0.1")))
        #expect(JSONValue.double(5) == .integer(5))
        #expect(JSONValue.integer(Int.min).description == "-9223372036854775808")
        for value in [Double.nan, .infinity, -.infinity, 1e200] { #expect(JSONValue.double(value) == .null) }
        // Decimal has no exponent below -128.
        #expect(JSONValue.double(1e-200) == .integer(0))
    }

    @Test(arguments: [
        "", "nul", "{", "{\"a\"}", "[1 2]", "{\"a\":1 \"b\":2}", "01", "1.", "-", "1e", "+1", ".5", "NaN", "Infinity",
        "-Infinity", "0x10", "\"a", "\"\u{1}\"", "\"\\x\"", "\"\\u12g4\"", "\"\\ud800\"", "\"\\udc00\"",
        "\"\\ud800\\u0041\"", "{\"\\ud800\":1}", "{} {}", "'a'", "//", "{a:1}", "1e128", "1e999", "-1e999", "1e-999",
        "1e99999999999999999999",
    ])
    func `what is not JSON, or no number that can be kept, is refused`(text: String) {
        #expect(throws: DecodingError.self) { try read(text) }
        #expect(throws: DecodingError.self) { try read("[0,\(text)") }
    }

    @Test func `numbers of any length are read or refused`() {
        for count in [39, 127, 128, 129, 1000, 60_000] {
            let digits = String(repeating: "9", count: count)
            for text in [digits, "-" + digits, "0." + digits, "1e" + digits, "1e-" + digits, "0.\(digits)e\(digits)"] {
                guard let value = try? read(text) else { continue }
                #expect(value.double != nil)
            }
        }
    }

    @Test(arguments: [
        [0x22, 0xc3, 0x28, 0x22], [0x22, 0xed, 0xa0, 0x80, 0x22], [0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d],
    ])
    func `bytes that are no text are refused`(bytes: [UInt8]) {
        #expect(throws: DecodingError.self) { try JSONValue(decoding: bytes) }
    }

    @Test func `nesting has an end`() throws {
        func nested(_ depth: Int) -> String {
            String(repeating: "[", count: depth) + String(repeating: "]", count: depth)
        }
        func keyed(_ depth: Int) -> String {
            String(repeating: "{\"a\":", count: depth) + "1" + String(repeating: "}", count: depth)
        }
        #expect(try read(nested(8)).description == nested(8))
        #expect(try read(keyed(8)).description == keyed(8))
        for depth in [9, 10, 511, 512, 513, 10_000] {
            #expect(throws: DecodingError.self) { try read(nested(depth)) }
            #expect(throws: DecodingError.self) { try read(keyed(depth)) }
        }
        for text in ["[", "{", "{\"a\":", "[{\"a\":", "[1,", "\"", "-", "\\", "[]", "[[]", "{}"] {
            let flood = String(repeating: text, count: (64 << 10) / text.utf8.count)
            #expect(throws: DecodingError.self) { try read(flood) }
        }
    }
}
