/// The address of a store on an SFTP server: `sftp://USER@HOST:PORT/PATH`. `/~/PATH` is below the user's home folder.
struct SFTPAddress: Hashable, Sendable {
    let user: String
    /// A name, or an address without brackets.
    let host: String
    let port: Int
    /// The server's path: absolute, or relative to the home folder. `.` is the home folder itself.
    let folder: String

    private static let usualPort = 22

    /// - Throws: `StoreError`, `.refused` if the URL is malformed or has a password. No sentence shows the password.
    init(_ url: String) throws(StoreError) {
        let shown = Self.shown(url)
        func refusal(_ advice: String) -> StoreError {
            StoreError(.refused, "outbox: \(shown): \(advice): see url in [outbox.sftp]")
        }
        let scheme = "sftp://"
        guard url.hasPrefix(scheme) else { throw refusal("is not a URL that begins with \(scheme)") }
        let rest = url.dropFirst(scheme.count)
        let authority = rest.prefix { $0 != "/" }
        guard let mark = authority.lastIndex(of: "@") else {
            throw refusal("names no user: write sftp://USER@HOST/PATH")
        }
        guard !authority[..<mark].contains(":") else {
            throw refusal("has a password, which is not used: remove it, and give the user a key")
        }
        guard let user = PercentCoding.decoded(authority[..<mark]), Self.isUser(user) else {
            throw refusal("the user's name has characters that are not allowed, or none")
        }
        var host = authority[authority.index(after: mark)...]
        var port = Self.usualPort
        if let colon = host.lastIndex(of: ":"), !host[colon...].contains("]") {
            guard let number = UInt16(host[host.index(after: colon)...]), number > 0 else {
                throw refusal("the port is not a number from 1 to 65535")
            }
            port = Int(number)
            host = host[..<colon]
        }
        if host.hasPrefix("["), host.hasSuffix("]") {
            host = host.dropFirst().dropLast()
            guard host.contains(":"), host.utf8.allSatisfy({ Self.isOfName($0) || $0 == 0x3a || $0 == 0x25 }) else {
                throw refusal("the host is not an address")
            }
        } else {
            guard Self.isHost(host) else {
                throw refusal("the host's name has characters that are not allowed, or none")
            }
        }
        guard let path = PercentCoding.decoded(rest.dropFirst(authority.count)),
            path.unicodeScalars.allSatisfy({ $0.value >= 32 && $0.value != 127 })
        else { throw refusal("the path has characters that are not allowed") }
        self.user = user
        self.host = String(host)
        self.port = port
        guard let folder = Self.folder(path) else {
            throw refusal("names no folder: write a path, or /~ for the home folder")
        }
        self.folder = folder
    }

    /// The URL for people and receipts.
    var text: String { "sftp://\(place)\(folder.hasPrefix("/") ? folder : folder == "." ? "/~" : "/~/\(folder)")" }

    /// The user and the server, for sentences.
    var place: String {
        let host = host.contains(":") ? "[\(host)]" : host
        return port == Self.usualPort ? "\(user)@\(host)" : "\(user)@\(host):\(port)"
    }

    /// The URL without its password.
    static func shown(_ url: String) -> String {
        let authority = url.drop { $0 != "/" }.drop { $0 == "/" }.prefix { $0 != "/" }
        // A password may itself contain these characters.
        guard let last = url.lastIndex(of: "@"), let colon = authority.firstIndex(of: ":"),
            colon < authority.lastIndex(of: "@") ?? last
        else { return url }
        return String(url[..<colon] + url[last...])
    }

    private static func folder(_ path: String) -> String? {
        var path = path[...]
        while path.hasSuffix("/") { path = path.dropLast() }
        if path == "/~" { return "." }
        guard path.hasPrefix("/~/") else { return path.isEmpty ? nil : String(path) }
        // A second slash would make the path absolute.
        return path.hasPrefix("/~//") ? nil : String(path.dropFirst(3))
    }

    private static func isOfName(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "-"), UInt8(ascii: "_"):
            true
        default: false
        }
    }

    /// Whether `ssh` cannot treat the name as an option, and a shell cannot treat it as more than a name.
    private static func isUser(_ text: String) -> Bool {
        !text.isEmpty && text.utf8.count <= 255 && !text.hasPrefix("-")
            && text.utf8.allSatisfy { isOfName($0) || $0 == UInt8(ascii: "@") || $0 == UInt8(ascii: "+") }
    }

    private static func isHost(_ text: Substring) -> Bool {
        !text.isEmpty && text.utf8.count <= 255 && !text.hasPrefix("-") && text.utf8.allSatisfy(isOfName)
    }
}
