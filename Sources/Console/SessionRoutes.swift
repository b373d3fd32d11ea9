import Control
import Digests
import FoundationEssentials
import HTTPTypes
import Hummingbird
import NIOPosix
import Settings
import Takes
import Transport
import Upload

/// Who the browser is, and how a phone is paired: while the kit accepts phones, because somebody held play there, or by the password.
struct SessionRoutes: Sendable {
    let phones: PhoneBook
    let recorder: RecorderDesk
    let settings: Settings
    /// The file with the password; it need not exist.
    let passwordFile: String
    let pool: NIOThreadPool
    let clock: any Clock
    private let attempts = Locked(Attempts())

    private static let patience = Duration.seconds(2)

    init(
        _ phones: PhoneBook, _ recorder: RecorderDesk, _ settings: Settings, passwordFile: String, pool: NIOThreadPool,
        clock: any Clock
    ) {
        self.phones = phones
        self.recorder = recorder
        self.settings = settings
        self.passwordFile = passwordFile
        self.pool = pool
        self.clock = clock
    }

    var routes: [Route] {
        [
            Route(.get, "/api/session", for: .none) { _, context in
                Response(json: await session(context.right, context.phone))
            },
            Route(.post, "/api/session", for: .none) { request, _ in try await pair(request) },
            Route(.delete, "/api/session", for: .all) { _, context in
                var response = Response.nothing
                if let phone = context.phone {
                    try await remove(phone.id)
                    response.headers[.setCookie] = Self.cookie(of: phone, "", age: 0)
                }
                return response
            },
            Route(.get, "/api/phones", for: .all) { _, _ in
                Response(json: ["phones": phones.phones.map(ShownPhone.init)])
            },
            Route(.delete, "/api/phones/{phone}", for: .all) { _, context in
                guard try await remove(context.parameter("phone")) else {
                    throw Problem(.notFound, .notFound, "console: there is no such phone")
                }
                return .nothing
            },
        ]
    }

    @discardableResult
    private func remove(_ id: String) async throws -> Bool {
        try await pool.runIfActive { try phones.remove(id) }
    }

    private func session(_ right: Right, _ phone: PhoneBook.Phone?) async -> Session {
        // A page begins with this: it does not wait long for a recorder that does not answer.
        let status = try? await recorder.ask(.status, patience: Self.patience)
        return Session(
            kit: settings.kitName, version: fieldfareVersion, access: settings.console.access.rawValue, right: right,
            phone: phone.map { ShownPhone($0) }, pairing: status?["pairing"]?.bool ?? false,
            password: (try? await password()) ?? nil != nil, listening: settings.console.hasLiveListening)
    }

    // MARK: Pairing

    private func pair(_ request: Request) async throws -> Response {
        let members = try await request.members(["name", "password"])
        guard let name = members["name"]?.text.map(Self.trimmed), (1...PhoneBook.longestName).contains(name.utf8.count),
            name.unicodeScalars.allSatisfy({ $0.properties.generalCategory != .control })
        else {
            throw Problem(
                .badRequest, .usage,
                "pair: name: allowed is a line of 1 to \(PhoneBook.longestName) bytes: give the phone a name")
        }
        if let given = members["password"], given != .null {
            try await check(given)
        } else if try await recorder.ask(.status)["pairing"]?.bool != true {
            throw Problem(
                .forbidden, .denied,
                "pair: the kit accepts no phone now: hold play on it for 3 seconds, until the upload lamp flickers, then try again"
            )
        }
        let (phone, token) = try await pool.runIfActive { try phones.add(name: name, now: clock.wallTime()) }
        var response = Response(json: await session(.all, phone), status: .created)
        // A year; the file of phones is what counts.
        response.headers[.setCookie] = Self.cookie(of: phone, token, age: 365 * 86400)
        return response
    }

    private func check(_ given: JSONValue) async throws {
        let now = clock.now()
        if let wait = attempts.withLock({ $0.begin(at: now) }) {
            let seconds = wait.components.seconds + 1
            var problem = Problem(
                .tooManyRequests, .busy, "pair: too many wrong passwords: try again in \(seconds) seconds")
            problem.headers[.retryAfter] = String(seconds)
            throw problem
        }
        guard let password = try await password() else {
            attempts.withLock { $0.takeBack(now) }
            throw Problem(
                .forbidden, .denied, "pair: no password is set: hold play on the kit for 3 seconds and pair without one"
            )
        }
        // Hashes are compared, so that the time says nothing of the password.
        let digest = { (text: String) in Digest.sha256(text) }
        guard digest(given.text ?? "") == digest(password.text) else {
            throw Problem(.forbidden, .denied, "pair: the password is wrong")
        }
        attempts.withLock { $0.takeBack(now) }
    }

    /// The first line of the password's file; nil: there is none.
    private func password() async throws -> Secret? {
        try await pool.runIfActive { [passwordFile] in
            guard FileManager.default.fileExists(atPath: passwordFile) || SecretFile.credentialsDirectory != nil else {
                return nil
            }
            do throws(StoreError) {
                let text = try SecretFile(passwordFile, of: "console").content.text
                let line = text.split(whereSeparator: \.isNewline).first.map { Self.trimmed(String($0)) } ?? ""
                return line.isEmpty ? nil : Secret(line)
            } catch {
                // Its path is nothing for strangers.
                throw Problem(
                    .internalServerError, .io,
                    "pair: the kit's password cannot be read: its file must belong to the library's user, with mode 600"
                )
            }
        }
    }

    private static func trimmed(_ text: String) -> String {
        let start = text.drop(while: \.isWhitespace)
        return start.lastIndex { !$0.isWhitespace }.map { String(start[...$0]) } ?? ""
    }

    /// Neither scripts nor other sites see it (RFC 6265bis). Without `Secure`: a kit has no certificate.
    private static func cookie(of phone: PhoneBook.Phone, _ token: String, age: Int) -> String {
        "\(Doorkeeper.cookie(of: phone.id))=\(token); Path=/; Max-Age=\(age); HttpOnly; SameSite=Strict"
    }
}

/// What a browser knows of itself.
private struct Session: Encodable {
    var kit: String
    var version: String
    var access: String
    var right: Right
    @ExplicitNull var phone: ShownPhone?
    var pairing: Bool
    var password: Bool
    var listening: Bool
}

/// A phone as others see it: without its hash.
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
