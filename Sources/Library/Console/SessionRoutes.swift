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
    let settings: Settings
    /// The port for TLS, or nil if there is none.
    let securePort: @Sendable () -> Int?
    let pool: NIOThreadPool

    var routes: [Route] {
        [
            Route(.get, "/api/session", for: .none) { _, context in
                Response(json: await session(context.right, context.phone))
            },
            Route(.post, "/api/session", for: .none) { request, context in try await pair(request, context) },
            Route(.delete, "/api/session", for: .all) { _, context in
                var response = Response.nothing
                if let phone = context.phone {
                    try await remove(phone.id, by: phone)
                    response.headers[.setCookie] = Self.cookie(of: phone, "", age: 0, isSecure: context.isSecure)
                }
                return response
            },
            Route(.get, "/api/phones", for: .all) { _, _ in
                Response(json: ["phones": phones.phones.map(ShownPhone.init)])
            },
            Route(.delete, "/api/phones/{phone}", for: .all) { _, context in
                guard try await remove(context.parameter("phone"), by: context.phone) else {
                    throw Problem(.notFound, .notFound, "console: there is no such phone")
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

    private func pair(_ request: Request, _ context: ConsoleContext) async throws -> Response {
        let members = try await request.members(["name", "code", "password"])
        guard let name = members["name"]?.text?.trimmed, (1...PhoneEvent.longestName).contains(name.utf8.count),
            name.unicodeScalars.allSatisfy({ $0.properties.generalCategory != .control })
        else {
            throw Problem(
                .badRequest, .usage,
                "pair: name: allowed is a line of 1 to \(PhoneEvent.longestName) bytes: give the phone a name")
        }
        let proof: PairingDesk.Proof =
            if let password = members["password"], password != .null {
                .password(password.text ?? "")
            } else {
                .code(members["code"]?.text)
            }
        let (phone, token) = try await desk.pair(
            name, proof, by: context.phone, at: BrowserAddress(context.channel.remoteAddress))
        var response = Response(json: await session(.all, phone), status: .created)
        // One year. The file of phones decides whether a token is valid.
        response.headers[.setCookie] = Self.cookie(of: phone, token, age: 365 * 86400, isSecure: context.isSecure)
        return response
    }

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
