import FoundationEssentials
import Upload

extension Web {
    static func parsed(_ url: String) -> URL? { HostName.ascii(in: url).flatMap { URL(string: $0) } }

    /// The scheme, host and port of a URL.
    public static func host(of url: String) -> String {
        guard let parsed = parsed(url), let scheme = parsed.scheme, let host = parsed.host else {
            return "the server"
        }
        let place = host.contains(":") && !host.hasPrefix("[") ? "[\(host)]" : host
        return "\(scheme)://\(place)" + (parsed.port.map { ":\($0)" } ?? "")
    }

    /// Whether a secret may be sent there: by TLS, or within this machine.
    static func isSafeForSecrets(_ url: String) -> Bool {
        url.lowercased().hasPrefix("https://") || isLoopback(url)
    }

    /// The rule for all stores: secrets cross a network only by TLS. Plain `http://` is allowed only within this
    /// machine.
    /// - Parameters:
    ///   - place: the subject of the sentence.
    ///   - secret: the secret that would be sent, such as `the password in FILE`.
    ///   - advice: a remedy in addition to `https://`.
    /// - Throws: `.refused` if the address is on another machine, without TLS.
    static func check(
        _ url: String, called place: String? = nil, for secret: String, advice: String = ""
    ) throws(StoreError) {
        guard !isSafeForSecrets(url) else { return }
        throw StoreError(
            .refused,
            "outbox: \(place ?? host(of: url)): \(secret) would be sent unencrypted: use https://\(advice)")
    }

    /// Whether the host is this machine. This includes names below `localhost` (RFC 6761, 6.3).
    static func isLoopback(_ url: String) -> Bool {
        guard let host = parsed(url)?.host?.lowercased() else { return false }
        return host == "localhost" || host.hasSuffix(".localhost") || host == "::1" || host == "[::1]"
            || isLoopbackAddress(host)
    }

    private static func isLoopbackAddress(_ host: String) -> Bool {
        let parts = host.split(separator: ".", omittingEmptySubsequences: false)
        return parts.count == 4 && parts[0] == "127" && parts.allSatisfy { UInt8($0) != nil }
    }

    /// The URL to connect to. A name below `localhost` is replaced, because not all resolvers know it.
    static func connectable(_ url: String) -> String {
        let url = HostName.ascii(in: url) ?? url
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
