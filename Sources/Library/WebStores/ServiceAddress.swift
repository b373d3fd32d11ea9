/// The address of a service in the settings: `https://HOST` or `https://HOST:PORT`, with or without a path.
struct ServiceAddress {
    /// `https:` or `http:`.
    let scheme: String
    /// `HOST` or `HOST:PORT`.
    let authority: String
    /// The text after the first slash, or nil without one.
    let path: String?

    /// Nil if the text has a user, a query or no host, or if its host or port is malformed.
    init?(_ text: String) {
        let parts = text.split(separator: "/", maxSplits: 3, omittingEmptySubsequences: false)
        guard parts.count >= 3, ["http:", "https:"].contains(parts[0]), parts[1].isEmpty,
            !text.contains(where: { "?#@".contains($0) }), Self.isAuthority(parts[2])
        else {
            return nil
        }
        (scheme, authority) = (String(parts[0]), String(parts[2]))
        path = parts.count > 3 ? String(parts[3]) : nil
    }

    private static func isAuthority(_ text: Substring) -> Bool {
        let host: Substring
        let rest: Substring
        if text.hasPrefix("[") {
            guard let end = text.firstIndex(of: "]") else { return false }
            (host, rest) = (text[...end], text[text.index(after: end)...])
            guard host.count > 2, host.dropFirst().dropLast().allSatisfy({ $0.isHexDigit || ":.%".contains($0) }) else {
                return false
            }
        } else {
            host = text.prefix { $0 != ":" }
            rest = text.dropFirst(host.count)
            let labels = host.split(separator: ".", omittingEmptySubsequences: false)
            guard labels.allSatisfy({ !$0.isEmpty && $0.allSatisfy(Self.isOfName) }) else { return false }
        }
        return rest.isEmpty || rest.hasPrefix(":") && (UInt16(rest.dropFirst()) ?? 0) > 0
    }

    /// Names with other letters must be in their ASCII form.
    private static func isOfName(_ character: Character) -> Bool {
        character.isASCII && (character.isLetter || character.isNumber) || "-_".contains(character)
    }
}
