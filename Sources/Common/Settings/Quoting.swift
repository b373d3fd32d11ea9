/// Text from a file in a form for one line of a terminal or a log: shortened, and without control characters.
func escaped(_ text: String, limit: Int = 60) -> String {
    var result = ""
    for scalar in text.unicodeScalars.prefix(limit) {
        switch scalar.properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator, .privateUse, .unassigned:
            result += "\\u{\(String(scalar.value, radix: 16))}"
        default: result.unicodeScalars.append(scalar)
        }
    }
    return text.unicodeScalars.count > limit ? result + "…" : result
}

/// Escaped text in quotation marks.
func quoted(_ text: String, limit: Int = 60) -> String {
    "\"\(escaped(text, limit: limit))\""
}

/// Replaces a password that stands in a setting by mistake, before the @ of a URL or as an option.
func withoutSecrets(_ text: String) -> String {
    var text = text[...]
    if let end = text.lastIndex(of: "@") {
        let scheme = text.firstRange(of: "://").flatMap { $0.upperBound <= end ? $0.upperBound : nil }
        if let mark = text[(scheme ?? text.startIndex)..<end].firstIndex(of: ":") {
            text = text[...mark] + "…" + text[end...]
        }
    }
    // The query of a URL may be a store's signature.
    if text.contains("://"), let query = text.firstIndex(of: "?") { text = text[...query] + "…" }
    let words = ["pass", "secret", "token", "key", "auth"]
    guard words.contains(where: { text.lowercased().contains($0) }), let first = text.firstIndex(of: "=") else {
        return String(text)
    }
    return text[...first] + "…"
}

/// A dotted key in TOML syntax.
func dotted(_ path: [String]) -> String {
    path.map { isBareKey($0) ? $0 : quoted($0) }.joined(separator: ".")
}

/// `a, b or c`.
func listed(_ items: [String], _ conjunction: String = "or") -> String {
    guard let last = items.last, items.count > 1 else { return items.first ?? "" }
    return items.dropLast().joined(separator: ", ") + " \(conjunction) " + last
}

/// `allowed is a` or `allowed are a, b or c`.
func permission(of alternatives: [String]) -> String {
    "allowed \(alternatives.count == 1 ? "is" : "are") \(listed(alternatives))"
}

/// A whole number is written without a fraction.
func plain(_ number: Double) -> String {
    Int(exactly: number).map(String.init) ?? String(number)
}

private func isBareKey(_ text: String) -> Bool {
    (1...60).contains(text.utf8.count)
        && text.utf8.allSatisfy {
            ($0 | 0x20 >= 0x61 && $0 | 0x20 <= 0x7a) || ($0 >= 0x30 && $0 <= 0x39) || $0 == 0x5f || $0 == 0x2d
        }
}
