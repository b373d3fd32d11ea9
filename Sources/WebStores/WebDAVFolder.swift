import FoundationEssentials
import Glibc
import Upload

/// The URL of a WebDAV folder, taken apart.
struct WebDAVFolder: Hashable, Sendable {
    /// `https://cloud.example.org:8443`
    let origin: String
    /// Percent-encoded, without a slash at its end: `/remote.php/dav/files/kit/recordings`.
    let path: String

    /// - Throws: `StoreError`, `.refused`, if it is no such URL, or has a user, a query or a fragment.
    init(_ text: String) throws(StoreError) {
        guard let mark = text.firstRange(of: "://"), let host = URL(string: text)?.host, !host.isEmpty else {
            throw StoreError(.refused, "outbox: [outbox.webdav] url: is no URL of a folder")
        }
        let rest = text[mark.upperBound...]
        let authority = rest.prefix { $0 != "/" && $0 != "?" && $0 != "#" }
        guard !authority.contains("@") else {
            throw StoreError(
                .refused, "outbox: [outbox.webdav] url: holds a user name: write it into the credentials_file instead")
        }
        let path = rest[authority.endIndex...]
        guard !path.contains("?"), !path.contains("#") else {
            throw StoreError(
                .refused, "outbox: [outbox.webdav] url: is no URL of a folder: leave out what follows ? or #")
        }
        origin = String(text[..<mark.upperBound] + authority)
        var encoded = Self.encoded(String(path), keeping: "/%!$&'()*+,;=:@")
        while encoded.hasSuffix("/") { encoded.removeLast() }
        self.path = encoded
    }

    private init(origin: String, path: String) {
        self.origin = origin
        self.path = path
    }

    /// The whole URL.
    var url: String { origin + path }

    /// What is in it, or in folders in it.
    subscript(_ names: String...) -> WebDAVFolder {
        WebDAVFolder(
            origin: origin, path: names.reduce(path) { $0 + "/" + Self.encoded($1, keeping: "") })
    }

    /// With the slash at its end that folders have: Apache redirects requests for a folder without it.
    var asFolder: WebDAVFolder { WebDAVFolder(origin: origin, path: path + "/") }

    /// Whether requests go to it unencrypted.
    var isPlain: Bool { origin.hasPrefix("http://") }

    /// Whether it is on this machine.
    var isLoopback: Bool {
        let authority = origin.drop { $0 != "/" }.dropFirst(2)
        if authority.hasPrefix("[") { return authority.hasPrefix("[::1]") }
        let host = String(authority.prefix { $0 != ":" })
        var address = in_addr()
        if unsafe inet_pton(AF_INET, host, &address) == 1 { return UInt32(bigEndian: address.s_addr) >> 24 == 127 }
        return host == "localhost"
    }

    /// Where Nextcloud takes files in chunks; nil: this is no folder of Nextcloud.
    var uploads: WebDAVFolder? {
        let mark = "/remote.php/dav/files/"
        guard let range = path.firstRange(of: mark) else { return nil }
        let user = path[range.upperBound...].prefix { $0 != "/" }
        guard !user.isEmpty else { return nil }
        return WebDAVFolder(origin: origin, path: path[..<range.lowerBound] + "/remote.php/dav/uploads/" + user)
    }

    /// RFC 3986: all bytes but the unreserved ones, and those to keep.
    private static func encoded(_ text: String, keeping kept: String) -> String {
        let digits = Array("0123456789ABCDEF".utf8)
        let kept = Set(kept.utf8).union("-._~".utf8)
        var bytes: [UInt8] = []
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"):
                bytes.append(byte)
            default:
                if kept.contains(byte) {
                    bytes.append(byte)
                } else {
                    bytes += [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
                }
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// A percent-encoded text decoded; nil if it is not of that form.
    static func decoded(_ text: some StringProtocol) -> String? {
        var bytes: [UInt8] = []
        var rest = Array(text.utf8)[...]
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "%") else {
                bytes.append(byte)
                continue
            }
            guard rest.count >= 2, let value = UInt8(String(decoding: rest.prefix(2), as: UTF8.self), radix: 16) else {
                return nil
            }
            bytes.append(value)
            rest = rest.dropFirst(2)
        }
        return String(validating: bytes, as: UTF8.self)
    }
}
