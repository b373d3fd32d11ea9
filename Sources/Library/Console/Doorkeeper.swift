import HTTPTypes
import Hummingbird
import NIOCore
import Settings
import Takes
import Transport

/// The right of a browser.
enum Right: String, Comparable, Encodable, Sendable {
    case none
    /// To see everything, and change nothing.
    case look
    case all

    static func < (left: Right, right: Right) -> Bool { left.rank < right.rank }

    private var rank: Int {
        switch self {
        case .none: 0
        case .look: 1
        case .all: 2
        }
    }
}

/// Decides rights by the phone's token, the settings, and the origin of a page.
struct Doorkeeper: Sendable {
    let phones: PhoneBook
    private let access: Settings.Console.Access
    private let names: Set<String>

    /// The name of the cookie with a phone's token. All kits have the same address in their own networks, so with a
    /// single name, a second kit's cookie would replace the first one's. `fieldfare` alone is accepted too.
    static func cookie(of phone: String) -> String { "\(cookie)-\(phone)" }

    private static let cookie = "fieldfare"
    /// The most cookies that are checked. A browser paired with many kits at the same address sends the cookies of all
    /// of them.
    private static let mostCookies = 100
    /// The suffixes that routers and mDNS append to host names (RFC 6762, RFC 8375).
    private static let domains = ["", ".local", ".lan", ".home", ".home.arpa", ".internal", ".fritz.box"]

    /// - Parameter hosts: the kit's names, as a person may type them.
    init(_ phones: PhoneBook, access: Settings.Console.Access, hosts: [String]) {
        self.phones = phones
        self.access = access
        let hosts = ["localhost"] + hosts.map { $0.lowercased() }
        names = Set(hosts.flatMap { host in Self.domains.map { host + $0 } })
    }

    /// The right of a request's browser, and its phone, or nil if it is not paired.
    func visitor(_ request: Request, now: WallTime) -> (right: Right, phone: PhoneBook.Phone?) {
        for token in Self.tokens(request) {
            if let phone = phones.phone(token: token, now: now) { return (.all, phone) }
        }
        switch access {
        case .paired: return (.none, nil)
        case .readOnly: return (.look, nil)
        case .open: return (.all, nil)
        }
    }

    /// The values of the cookies that may be this kit's (RFC 6265, 4.2.1).
    private static func tokens(_ request: Request) -> [String] {
        let cookies = request.headers[values: .cookie].flatMap { $0.split(separator: ";") }
        return cookies.compactMap { cookie in
            let parts = cookie.drop { $0 == " " }.split(separator: "=", maxSplits: 1)
            guard parts.count == 2, parts[0] == Self.cookie || parts[0].hasPrefix("\(Self.cookie)-") else { return nil }
            return String(parts[1])
        }.prefix(mostCookies).map(\.self)
    }

    /// Refuses requests caused by another site: a host name that is not the kit's (DNS rebinding), or a page that is
    /// not the kit's (cross-site request forgery).
    /// - Parameter isSecure: whether the request came by TLS.
    func checkOrigin(_ request: Request, isSecure: Bool) throws(Problem) {
        guard let host = request.head.authority, isOwn(host) else {
            throw Problem(
                .misdirectedRequest, .denied,
                "console: the address in the browser is not a name of this kit: open the kit by its name or its IP address"
            )
        }
        if let origin = request.headers[.origin] {
            guard origin.lowercased() == (isSecure ? "https://" : "http://") + host.lowercased() else {
                throw Self.foreign
            }
        }
        switch request.headers[.secFetchSite] {
        case nil, "same-origin", "none": break
        // A link on another page may lead here and returns only the page.
        case _? where request.method == .get && request.uri.path == "/": break
        default: throw Self.foreign
        }
    }

    private static let foreign = Problem(
        .forbidden, .denied, "console: the request comes from a page of another site: open the kit's own page")

    /// Whether an authority such as `heron07.local:8080` is the kit's. IP addresses are accepted, because no name
    /// server can redirect them.
    private func isOwn(_ authority: String) -> Bool {
        var host = Substring(authority.lowercased())
        if let colon = host.lastIndex(of: ":"),
            host[host.index(after: colon)...].utf8.allSatisfy({ (0x30...0x39).contains($0) }),
            host.first == "[" ? host[..<colon].last == "]" : !host[..<colon].contains(":")
        {
            host = host[..<colon]
        }
        if host.hasSuffix(".") { host = host.dropLast() }
        if host.first == "[", host.last == "]" { host = host.dropFirst().dropLast() }
        let name = String(host)
        return names.contains(name) || (try? SocketAddress(ipAddress: name, port: 0)) != nil
    }
}

extension HTTPField.Name {
    /// The relation between the requesting page and the target (W3C Fetch Metadata Request Headers).
    static var secFetchSite: Self { Self("Sec-Fetch-Site")! }
}
