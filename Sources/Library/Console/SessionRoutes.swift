import Control
import HTTPTypes
import Hummingbird
import NIOPosix
import Settings
import Takes
import Transport

/// The browser's identity, the paired phones, and pairing.
struct SessionRoutes: Sendable {
    let phones: PhoneBook
    let desk: PairingDesk
    let ticket: Ticket
    let settings: Settings
    /// The port for TLS, or nil if there is none.
    let securePort: @Sendable () -> Int?
    let pool: NIOThreadPool

    var routes: [Route] {
        [
            Route(.get, "/api/session", for: .none) { _, context in
                Response(json: await session(context.right, context.phone))
            },
            Route(.post, "/api/session", for: .none, takes: .json(["name", "code", "password"])) { _, context in
                try await pair(context)
            },
            Route(.patch, "/api/session", for: .all, takes: .json(["name"])) { _, context in
                try await rename(context)
            },
            Route(.delete, "/api/session", for: .all) { _, context in
                var response = Response.nothing
                if let phone = context.phone {
                    try await remove(phone.id, by: phone)
                    response.headers[.setCookie] = Self.cookie(of: phone, "", age: 0, isSecure: context.isSecure)
                }
                return response
            },
            Route(.get, "/ticket/{ticket}", for: .none) { _, context in try await redeem(context) },
            Route(.get, "/api/phones", for: .all) { _, _ in
                Response(json: ["phones": phones.phones.map(ShownPhone.init)])
            },
            Route(.delete, "/api/phones/{phone}", for: .all) { _, context in
                guard try await remove(context.parameter("phone"), by: context.phone) else {
                    throw Problem(.noSuchPhone)
                }
                return .nothing
            },
        ]
    }

    @discardableResult
    private func remove(_ id: String, by phone: PhoneBook.Phone?) async throws -> Bool {
        guard let removed = try await pool.runIfActive({ try phones.remove(id) }) else { return false }
        await desk.news.report(PhoneEvent(.removed, phone: removed.name, by: phone?.name))
        return true
    }

    private func session(_ right: Right, _ phone: PhoneBook.Phone?) async -> Session {
        let (isPairing, ended) = await desk.state()
        return Session(
            kit: settings.kitName, version: fieldfareVersion, access: settings.console.access.rawValue, right: right,
            phone: phone.map { ShownPhone($0) }, pairing: isPairing, pairingEnded: ended,
            password: (try? await desk.password.secret()) ?? nil != nil, listening: settings.console.hasLiveListening,
            securePort: securePort())
    }

    /// The phone's name in a request.
    private static func name(in members: [String: JSONValue]) throws(Problem) -> String {
        guard let name = members["name"]?.text?.trimmed, (1...PhoneEvent.longestName).contains(name.utf8.count),
            name.unicodeScalars.allSatisfy({ $0.properties.generalCategory != .control })
        else {
            throw Problem(.phoneName)
        }
        return name
    }

    /// Renames the phone that asks. Nobody can give another phone a name.
    private func rename(_ context: ConsoleContext) async throws -> Response {
        let name = try Self.name(in: context.members)
        guard let phone = context.phone else {
            throw Problem(
                .forbidden, .denied, "pair: name: this browser is not paired, so it has no name: pair it first")
        }
        if name != phone.name, try await pool.runIfActive({ try phones.rename(phone.id, to: name) }) != nil {
            await desk.news.report(PhoneEvent(.renamed, phone: name, by: phone.name))
        }
        let renamed = phones.phones.first { $0.id == phone.id }
        return Response(json: await session(context.right, renamed))
    }

    private func pair(_ context: ConsoleContext) async throws -> Response {
        let members = context.members
        let name = try Self.name(in: members)
        let proof: PairingDesk.Proof =
            if let password = members["password"], password != .null {
                .password(password.text ?? "")
            } else {
                .code(members["code"]?.text)
            }
        let (phone, token) = try await desk.pair(
            name, proof, by: context.phone, at: BrowserAddress(context.channel.remoteAddress))
        var response = Response(json: await session(.all, phone), status: .created)
        response.headers[.setCookie] = Self.cookie(of: phone, token, age: Self.year, isSecure: context.isSecure)
        return response
    }

    /// The name of the phone that a ticket pairs.
    private static let ticketHolder = "Browser on this machine"

    /// Leads any browser to the page. A browser on this machine that has the ticket is paired first.
    private func redeem(_ context: ConsoleContext) async throws -> Response {
        var response = Response(status: .seeOther, headers: [.location: "/"])
        let address = BrowserAddress(context.channel.remoteAddress)
        let text = context.parameter("ticket")
        guard address.isThisMachine else { return response }
        let isAccepted = try await pool.runIfActive {
            guard ticket.redeem(text) else { return false }
            // Each start of a demo writes a ticket, and the number of phones is limited.
            for former in phones.phones where former.name == Self.ticketHolder { _ = try phones.remove(former.id) }
            return true
        }
        guard isAccepted else { return response }
        let (phone, token) = try await desk.add(Self.ticketHolder, from: address)
        response.headers[.setCookie] = Self.cookie(of: phone, token, age: Self.year, isSecure: context.isSecure)
        return response
    }

    /// The lifetime of a cookie, in seconds. The file of phones decides whether a token is valid.
    private static let year = 365 * 86400

    /// Scripts and other sites cannot read it (RFC 6265bis). A cookie that was set by TLS is never sent unencrypted.
    private static func cookie(of phone: PhoneBook.Phone, _ token: String, age: Int, isSecure: Bool) -> String {
        "\(Doorkeeper.cookie(of: phone.id))=\(token); Path=/; Max-Age=\(age); HttpOnly; SameSite=Strict"
            + (isSecure ? "; Secure" : "")
    }
}

/// The browser's own session.
private struct Session: Encodable {
    var kit: String
    var version: String
    var access: String
    var right: Right
    @ExplicitNull var phone: ShownPhone?
    var pairing: Bool
    @ExplicitNull var pairingEnded: PairingDesk.End?
    var password: Bool
    var listening: Bool
    @ExplicitNull var securePort: Int?

    enum CodingKeys: String, CodingKey {
        case kit, version, access, right, phone, pairing, password, listening
        case pairingEnded = "pairing_ended"
        case securePort = "secure_port"
    }
}

/// A phone without its hash, for other phones.
private struct ShownPhone: Codable, Hashable {
    var id: String
    var name: String
    var since: String
    @ExplicitNull var seen: String?

    init(_ phone: PhoneBook.Phone) {
        id = phone.id
        name = phone.name
        since = phone.since
        seen = phone.seen
    }
}
