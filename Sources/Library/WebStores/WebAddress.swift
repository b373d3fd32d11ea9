import FoundationEssentials
import Upload

// What an address of a request says.
extension Web {
    /// The server of a URL.
    public static func host(of url: String) -> String {
        guard let parsed = URL(string: url), let scheme = parsed.scheme, let host = parsed.host else {
            return "the server"
        }
        let place = host.contains(":") && !host.hasPrefix("[") ? "[\(host)]" : host
        return "\(scheme)://\(place)" + (parsed.port.map { ":\($0)" } ?? "")
    }

    /// Whether a secret may be sent there: by TLS, or within this machine.
    static func isSafeForSecrets(_ url: String) -> Bool {
        url.lowercased().hasPrefix("https://") || isLoopback(url)
    }

    /// The rule for all stores: what is secret passes a network by TLS only. Plain `http://` is for this machine.
    /// - Parameters:
    ///   - place: what the sentence is about.
    ///   - secret: what would be sent: `the password in FILE`.
    ///   - advice: what helps beside `https://`.
    /// - Throws: `.refused`, if the address is of another machine, without TLS.
    static func check(
        _ url: String, called place: String? = nil, for secret: String, advice: String = ""
    ) throws(StoreError) {
        guard !isSafeForSecrets(url) else { return }
        throw StoreError(
            .refused,
            "outbox: \(place ?? host(of: url)): \(secret) would be sent unencrypted: use https://\(advice)")
    }

    /// Whether it is this machine. Names below `localhost` are as well (RFC 6761, 6.3).
    static func isLoopback(_ url: String) -> Bool {
        guard let host = URL(string: url)?.host?.lowercased() else { return false }
        return host == "localhost" || host.hasSuffix(".localhost") || host == "::1" || host == "[::1]"
            || isLoopbackAddress(host)
    }

    private static func isLoopbackAddress(_ host: String) -> Bool {
        let parts = host.split(separator: ".", omittingEmptySubsequences: false)
        return parts.count == 4 && parts[0] == "127" && parts.allSatisfy { UInt8($0) != nil }
    }

    /// Where a request connects: a name below `localhost` is this machine, which not all resolvers know.
    static func connectable(_ url: String) -> String {
        guard let parsed = URL(string: url), let host = parsed.host, host.lowercased().hasSuffix(".localhost"),
            let range = url.firstRange(of: host)
        else { return url }
        return url.replacingCharacters(in: range, with: "localhost")
    }
}

extension String {
    fileprivate func replacingCharacters(in range: Range<String.Index>, with text: String) -> String {
        "\(self[..<range.lowerBound])\(text)\(self[range.upperBound...])"
    }
}
