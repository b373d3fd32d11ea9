/// The numeric address and port of a listening server.
public struct ListenAddress: Hashable, Sendable {
    /// IPv4, or IPv6 without brackets.
    public var host: String
    /// 1 to 65535.
    public var port: Int

    public init(host: String, port: Int) {
        self.host = host
        self.port = port
    }

    /// Reads `0.0.0.0:80` or `[::]:80`, or returns nil for anything else.
    public init?(_ text: String) {
        guard let colon = text.lastIndex(of: ":") else { return nil }
        let (host, digits) = (text[..<colon], text[text.index(after: colon)...])
        guard digits.utf8.allSatisfy({ (0x30...0x39).contains($0) }), let port = Int(digits),
            (1...65535).contains(port)
        else { return nil }
        if host.hasPrefix("["), host.hasSuffix("]") {
            let inner = host.dropFirst().dropLast()
            guard Self.isIPv6(inner) else { return nil }
            self.init(host: String(inner), port: port)
        } else {
            guard Self.isIPv4(host) else { return nil }
            self.init(host: String(host), port: port)
        }
    }

    private static func isIPv4(_ text: Substring) -> Bool {
        let bytes = text.split(separator: ".", omittingEmptySubsequences: false)
        return bytes.count == 4
            && bytes.allSatisfy { byte in
                (1...3).contains(byte.utf8.count) && byte.utf8.allSatisfy { (0x30...0x39).contains($0) }
                    && UInt8(byte) != nil
            }
    }

    /// A rough check: the characters of an IPv6 address, and at least two colons. The socket call checks the rest.
    private static func isIPv6(_ text: Substring) -> Bool {
        text.utf8.count { $0 == UInt8(ascii: ":") } >= 2 && text.utf8.count <= 45
            && text.allSatisfy { $0.isASCII && ($0.isHexDigit || $0 == ":" || $0 == ".") }
    }
}

extension ListenAddress: CustomStringConvertible {
    /// The form used in the settings.
    public var description: String { (host.contains(":") ? "[\(host)]" : host) + ":\(port)" }
}
