import Digests
import FoundationEssentials
import NIOHTTP1
import Settings
import Takes
import Upload

/// A Google service account: its key file, and the access tokens granted for it (RFC 7523).
actor FirebaseAccount {
    /// The account with the rights; not a secret.
    nonisolated let email: String
    /// The only host that tokens may be sent to, or nil if the file names none.
    nonisolated let host: SecretHost?
    private let key: SigningKey
    private let keyID: String?
    private let tokenURI: String
    private let path: String
    private let web: Web
    private let clock: any Clock
    private var granted: (token: Secret, until: Instant)?

    private static let scope = "https://www.googleapis.com/auth/devstorage.read_write"
    /// A token is not used in the last part of its lifetime, so that it cannot expire in transit.
    private static let margin = Duration.seconds(300)
    /// Longer than the name of any account, object or right in Google's messages.
    private static let longestWord = 120

    /// Reads the key file from Google's console.
    /// - Throws: `StoreError`, `.refused` if it is not such a file.
    init(_ file: SecretFile, web: Web, clock: any Clock = SystemClock()) throws(StoreError) {
        // The underlying errors are not shown, because they may quote the file.
        guard let content = try? JSONDecoder().decode(KeyFile.self, from: Data(file.content.text.utf8)) else {
            throw StoreError(
                .refused,
                "outbox: \(file.path): is not a key of a service account: make one in the Google Cloud console (IAM, Service "
                    + "accounts, Keys, JSON)")
        }
        guard let key = SigningKey(pem: content.private_key) else {
            throw StoreError(
                .refused, "outbox: \(file.path): its private_key is not an RSA key (PEM): download the key again")
        }
        let tokenURI = content.token_uri ?? "https://oauth2.googleapis.com/token"
        try Web.check(
            tokenURI, for: "what the key in \(file.path) signs", advice: " in its token_uri")
        email = content.client_email
        host = content.host.map { SecretHost($0) }
        keyID = content.private_key_id
        self.key = key
        self.tokenURI = tokenURI
        path = file.path
        self.web = web
        self.clock = clock
    }

    /// An access token, granted now or before.
    /// - Throws: `StoreError`, `.refused` if the key is not accepted.
    func token() async throws -> Secret {
        let start = clock.now()
        if let granted, start < granted.until { return granted.token }
        let answer = try await web.send(
            .POST, tokenURI, headers: ["Content-Type": "application/x-www-form-urlencoded"],
            body: .bytes(
                Array(
                    "grant_type=urn%3Aietf%3Aparams%3Aoauth%3Agrant-type%3Ajwt-bearer&assertion=\(try signed())"
                        .utf8)), mayRepeat: true)
        let body = try await answer.bytes(limit: 1 << 16)
        guard answer.status == 200 else { throw problem(answer, body) }
        guard let grant = try? JSONDecoder().decode(Grant.self, from: Data(body)), !grant.access_token.isEmpty else {
            throw StoreError(.busy(nil), "outbox: \(Web.host(of: tokenURI)): answered without an access token")
        }
        let token = Secret(grant.access_token)
        granted = (token, start + .seconds(grant.expires_in ?? 3600) - Self.margin)
        return token
    }

    /// Forgets a token that was not accepted.
    func forget(_ token: Secret) {
        if granted?.token.text == token.text { granted = nil }
    }

    /// A server's text without the token and without assertions.
    func withoutSecrets(_ text: String) -> String {
        let text = granted.map { $0.token.hidden(in: text) } ?? text
        // Earlier tokens and assertions, whole or cut, are long words.
        return text.split(separator: " ", omittingEmptySubsequences: false)
            .map { $0.utf8.count > Self.longestWord ? "…" : String($0) }.joined(separator: " ")
    }

    /// The request for a token: a JSON Web Token, signed with RSA and SHA-256 (RFC 7519; RFC 7518, section 3.3).
    private func signed() throws(StoreError) -> String {
        let now = Int(clock.wallTime().microseconds / 1_000_000)
        let claims = Claims(iss: email, scope: Self.scope, aud: tokenURI, iat: now, exp: now + 3600)
        let encoder = JSONEncoder()
        let parts = try? [
            encoder.encode(Header(alg: "RS256", typ: "JWT", kid: keyID)), encoder.encode(claims),
        ].map(Self.base64URL)
        guard let text = parts?.joined(separator: "."), let signature = key.signature(of: text) else {
            throw StoreError(.refused, "outbox: \(path): its private_key does not sign: download the key again")
        }
        return "\(text).\(Self.base64URL(Data(signature)))"
    }

    /// Base64 for URLs (RFC 4648, section 5), without padding.
    private static func base64URL(_ bytes: Data) -> String {
        String(
            bytes.base64EncodedString().compactMap { character -> Character? in
                switch character {
                case "+": "-"
                case "/": "_"
                case "=": nil
                default: character
                }
            })
    }

    /// The error for the token endpoint's answer (RFC 6749, section 5.2).
    private func problem(_ answer: Web.Answer, _ body: [UInt8]) -> StoreError {
        let host = Web.host(of: tokenURI)
        if answer.status == 429 || answer.status >= 500 {
            return StoreError(
                .busy(FirebaseStore.retryAfter(answer.headers)),
                "outbox: \(host): grants no access token for the moment: status \(answer.status)")
        }
        let refusal = try? JSONDecoder().decode(Refusal.self, from: Data(body))
        let reason = Web.printable(
            withoutSecrets(
                [refusal?.error ?? "status \(answer.status)", refusal?.error_description].compactMap(\.self)
                    .joined(separator: ": ")))
        let advice =
            if refusal?.error == "invalid_grant" {
                refusal?.error_description?.contains("iat") == true
                    ? "set the kit's clock"
                    : "make a new key of that account, and see whether the kit's clock is right"
            } else {
                "see whether the account still exists, and make a new key of it"
            }
        return StoreError(
            .refused, "outbox: \(host): does not accept the key of \(email) in \(path): \(reason): \(advice)")
    }

    // Google's names of the keys.
    private struct KeyFile: Decodable {
        var client_email: String
        var private_key: String
        var private_key_id: String?
        var token_uri: String?
        /// Not from Google; a person may add it.
        var host: String?
    }

    private struct Grant: Decodable {
        var access_token: String
        var expires_in: Int?
    }

    private struct Refusal: Decodable {
        var error: String
        var error_description: String?
    }

    private struct Header: Encodable {
        var alg: String
        var typ: String
        var kid: String?
    }

    private struct Claims: Encodable {
        var iss: String
        var scope: String
        var aud: String
        var iat: Int
        var exp: Int
    }
}
