import AsyncHTTPClient
import FoundationEssentials

/// The proxy for a request, from the environment variables as curl interprets them.
struct ProxyRules: Sendable {
    typealias Proxy = HTTPClient.Configuration.Proxy

    /// For `https://`; nil for no proxy.
    private let encrypted: Proxy?
    /// For `http://`; nil for no proxy.
    private let plain: Proxy?
    private let exceptions: [Exception]

    /// Hosts that are reached without a proxy.
    private enum Exception: Equatable, Sendable {
        case everything
        /// A name and all names below it, or an address. A nil port means any port.
        case host(String, port: Int?)
        /// A block of addresses, of 4 or 16 bytes (RFC 4632).
        case block([UInt8], bitCount: Int)
    }

    /// Reads `https_proxy`, `http_proxy`, `all_proxy` and `no_proxy`, also in upper case. `HTTP_PROXY` is ignored, as
    /// in curl, because in a CGI program it is a header of the request.
    init(environment: [String: String]) {
        func proxy(_ names: String...) -> Proxy? {
            names.lazy.compactMap { environment[$0].flatMap(Self.proxy) }.first
        }
        encrypted = proxy("https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY", "http_proxy")
        plain = proxy("http_proxy", "all_proxy", "ALL_PROXY")
        let list = environment["no_proxy"] ?? environment["NO_PROXY"] ?? ""
        exceptions = list.split { $0 == "," || $0.isWhitespace }.compactMap(Self.exception)
    }

    /// The proxy for a request, or nil for a direct connection. Requests to this machine are always direct.
    func proxy(for url: String) -> Proxy? {
        guard let parsed = Web.parsed(url), let host = parsed.host, !Web.isLoopback(url) else { return nil }
        let isEncrypted = parsed.scheme?.lowercased() == "https"
        let name = Self.trimmed(host)
        let port = parsed.port ?? (isEncrypted ? 443 : 80)
        guard !exceptions.contains(where: { Self.covers($0, name, port) }) else { return nil }
        return isEncrypted ? encrypted : plain
    }

    /// The proxy of `http://USER:PASSWORD@HOST:PORT` or `socks5://HOST:PORT`. The scheme and the user are optional. Nil
    /// without a host or port.
    static func proxy(_ value: String) -> Proxy? {
        guard let url = Web.parsed(value.contains("://") ? value : "http://\(value)"), let host = url.host,
            let port = url.port
        else { return nil }
        if url.scheme?.lowercased().hasPrefix("socks") == true { return .socksServer(host: host, port: port) }
        guard let user = url.user(percentEncoded: false), let password = url.password(percentEncoded: false) else {
            return .server(host: host, port: port)
        }
        return .server(host: host, port: port, authorization: .basic(username: user, password: password))
    }

    private static func exception(_ entry: Substring) -> Exception? {
        guard entry != "*" else { return .everything }
        if let slash = entry.firstIndex(of: "/") {
            guard let address = bytes(of: trimmed(entry[..<slash])),
                let bitCount = Int(entry[entry.index(after: slash)...]),
                (0...8 * address.count).contains(bitCount)
            else { return nil }
            return .block(address, bitCount: bitCount)
        }
        var (name, port) = (entry, Int?.none)
        // An IPv6 address has several colons.
        if let colon = entry.lastIndex(of: ":"), entry.filter({ $0 == ":" }).count == 1 || entry.hasPrefix("["),
            let number = Int(entry[entry.index(after: colon)...])
        {
            (name, port) = (entry[..<colon], number)
        }
        if name.hasPrefix("*.") { name = name.dropFirst() }
        name = name.drop { $0 == "." }
        let host = trimmed(HostName.ascii(name) ?? String(name))
        return host.isEmpty ? nil : .host(host, port: port)
    }

    private static func covers(_ exception: Exception, _ name: String, _ port: Int) -> Bool {
        switch exception {
        case .everything: return true
        case .host(let host, let itsPort):
            guard itsPort == nil || itsPort == port else { return false }
            if let address = bytes(of: host) { return bytes(of: name) == address }
            return name == host || (name.hasSuffix(".\(host)") && bytes(of: name) == nil)
        case .block(let block, let bitCount):
            guard let address = bytes(of: name), address.count == block.count else { return false }
            return (0..<bitCount).allSatisfy { bit in
                (address[bit / 8] ^ block[bit / 8]) & (0x80 >> UInt8(bit % 8)) == 0
            }
        }
    }

    /// A host in lower case, without brackets and without the final dot.
    private static func trimmed(_ host: some StringProtocol) -> String {
        var host = host.lowercased()
        if host.hasPrefix("["), host.hasSuffix("]") { host = String(host.dropFirst().dropLast()) }
        if host.hasSuffix(".") { host.removeLast() }
        return host
    }

    /// The bytes of an IPv4 or IPv6 address, or nil for a name.
    static func bytes(of text: String) -> [UInt8]? {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        if parts.count == 4, !text.contains(":") {
            let numbers = parts.compactMap { UInt8($0) }
            return numbers.count == 4 ? numbers : nil
        }
        guard text.contains(":") else { return nil }
        let halves = text.split(separator: "::", maxSplits: 1, omittingEmptySubsequences: false)
        func groups(_ half: Substring) -> [UInt8]? {
            var bytes: [UInt8] = []
            for group in half.split(separator: ":", omittingEmptySubsequences: false) where !half.isEmpty {
                if group.contains("."), let ending = Self.bytes(of: String(group)) {
                    bytes += ending
                } else if let number = UInt16(group, radix: 16) {
                    bytes += [UInt8(number >> 8), UInt8(truncatingIfNeeded: number)]
                } else {
                    return nil
                }
            }
            return bytes
        }
        guard let first = groups(halves[0]) else { return nil }
        guard halves.count == 2 else { return first.count == 16 ? first : nil }
        guard let last = groups(halves[1]), first.count + last.count <= 14 else { return nil }
        return first + [UInt8](repeating: 0, count: 16 - first.count - last.count) + last
    }
}
