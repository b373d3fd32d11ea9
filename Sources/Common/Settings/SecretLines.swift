/// The lines `KEY = VALUE` of a file with a secret. Empty lines and lines that begin with `#` or `[` are ignored. A
/// value may be in quotes.
public struct SecretLines: Sendable {
    private let found: [String: String]

    public init(_ text: String) {
        var found: [String: String] = [:]
        for line in text.split(whereSeparator: \.isNewline) {
            let line = Self.trimmed(line)
            guard let first = line.first, first != "#", first != "[", let mark = line.firstIndex(of: "=") else {
                continue
            }
            var value = Self.trimmed(line[line.index(after: mark)...])
            if value.count >= 2, let quote = value.first, quote == "\"" || quote == "'", value.last == quote {
                value = value.dropFirst().dropLast()
            }
            found[String(Self.trimmed(line[..<mark]))] = String(value)
        }
        self.found = found
    }

    /// The value of a key, or nil if it is missing or empty.
    public subscript(_ key: String) -> String? { found[key].flatMap { $0.isEmpty ? nil : $0 } }

    private static func trimmed(_ text: Substring) -> Substring {
        let start = text.drop(while: \.isWhitespace)
        guard let last = start.lastIndex(where: { !$0.isWhitespace }) else { return start.prefix(0) }
        return start[...last]
    }
}
