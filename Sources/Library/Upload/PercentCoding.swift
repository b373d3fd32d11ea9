/// Percent-encoding in URLs (RFC 3986, 2.1).
package enum PercentCoding {
    /// Decodes `%XX`; nil if the text is malformed or not UTF-8.
    /// - Parameter plusIsSpace: whether `+` stands for a space, as in forms.
    package static func decoded(_ text: some StringProtocol, plusIsSpace: Bool = false) -> String? {
        var bytes: [UInt8] = []
        var rest = Array(text.utf8)[...]
        while let byte = rest.popFirst() {
            switch byte {
            case UInt8(ascii: "+") where plusIsSpace: bytes.append(UInt8(ascii: " "))
            case UInt8(ascii: "%"):
                let digits = rest.prefix(2).compactMap { Character(Unicode.Scalar($0)).hexDigitValue }
                guard digits.count == 2 else { return nil }
                bytes.append(UInt8(digits[0] << 4 | digits[1]))
                rest = rest.dropFirst(2)
            default: bytes.append(byte)
            }
        }
        return String(validating: bytes, as: UTF8.self)
    }
}
