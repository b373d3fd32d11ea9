import Digests
import FoundationEssentials
import NIOHTTP1
import Upload

/// Requests to the JSON API of Google Cloud Storage, and the errors for its answers.
extension FirebaseStore {
    /// An object as the API describes it.
    struct Resource: Decodable {
        var name: String
        var size: Number?
        var generation: Number?
        /// Base64 of four bytes, most significant byte first.
        var crc32c: String?
        var metadata: [String: String]?

        /// The requested fields.
        static let fields = "name,size,generation,crc32c,metadata"

        var byteCount: Int64 { size?.value ?? 0 }
        var texts: [String: String] { metadata ?? [:] }
        var sha256: String? { texts["sha256"] }
    }

    struct Page: Decodable {
        var items: [Resource]?
        var nextPageToken: String?
    }

    /// A 64-bit number, which the API sends as text.
    struct Number: Decodable {
        var value: Int64

        init(from decoder: any Decoder) throws {
            let container = try decoder.singleValueContainer()
            if let text = try? container.decode(String.self) {
                guard let value = Int64(text) else {
                    throw DecodingError.dataCorruptedError(in: container, debugDescription: "no number")
                }
                self.value = value
            } else {
                value = try container.decode(Int64.self)
            }
        }
    }

    private struct Failure: Decodable {
        struct Content: Decodable {
            var message: String?
            var errors: [Reason]?
        }
        struct Reason: Decodable { var reason: String? }
        var error: Content
    }

    /// Sends a request with an access token. A refused token is renewed once.
    func send(
        _ method: HTTPMethod, _ url: String, headers: HTTPHeaders = [:], body: Web.Body = .none,
        mayRepeat: Bool? = nil
    ) async throws -> Web.Answer {
        guard let account else {
            return try await web.send(method, url, headers: headers, body: body, mayRepeat: mayRepeat)
        }
        var isFirst = true
        while true {
            let token = try await account.token()
            var headers = headers
            headers.replaceOrAdd(name: "Authorization", value: "Bearer \(token.text)")
            let answer = try await web.send(method, url, headers: headers, body: body, mayRepeat: mayRepeat)
            guard answer.status == 401, isFirst else { return answer }
            isFirst = false
            _ = try await answer.bytes()
            await account.forget(token)
        }
    }

    /// The error for an answer without success.
    /// - Parameter action: the attempted action, such as `sending to`.
    func problem(_ answer: Web.Answer, _ action: String, _ object: ObjectName? = nil) async throws -> StoreError {
        let body = try await answer.bytes()
        let failure = (try? JSONDecoder().decode(Failure.self, from: Data(body)))?.error
        var said = ""
        if let message = failure?.message {
            // A server may echo the request.
            said = ": " + Web.printable(await account?.withoutSecrets(message) ?? message)
        }
        let reasons = failure?.errors?.compactMap(\.reason) ?? []
        let subject =
            "outbox: \(Web.host(of: endpoint)): \(action) bucket \(bucket)\(object.map { ": \($0.file)" } ?? "")"
        let isQuota = reasons.contains { $0.lowercased().contains("quota") }
        switch answer.status {
        case 408, 429, 500...:
            return StoreError(
                .busy(Self.retryAfter(answer.headers)),
                "\(subject): the service is busy: status \(answer.status)\(said)")
        case 403 where reasons.contains { $0.lowercased().contains("ratelimit") }:
            return StoreError(.busy(Self.retryAfter(answer.headers)), "\(subject): too many requests\(said)")
        case 413: return StoreError(.rejected, "\(subject): the service does not take files of this length\(said)")
        case let status where status == 402 || (status == 403 && isQuota):
            return StoreError(.full, "\(subject): the quota is used up\(said)")
        case 401:
            return StoreError(
                .refused,
                "\(subject): \(user) is not accepted: make a new key, and see whether the kit's clock is right\(said)")
        case 403:
            // An account that may only create objects can send takes.
            return StoreError(
                ["asking", "reading from"].contains(action) ? .hidden : .refused,
                "\(subject): \(user) has not the right: \(Self.grant)\(said)")
        case 404 where object == nil || isOfBucket(failure?.message):
            return StoreError(
                .refused,
                "\(subject): no such bucket: see [outbox.firebase] bucket, and make it in the Firebase console"
            )
        case 404:
            return StoreError(.missing, "\(subject): no such object")
        default:
            return StoreError(.refused, "\(subject): refused: status \(answer.status)\(said)")
        }
    }

    /// The account, for sentences.
    var user: String { account?.email ?? "a request without a service account" }

    /// The advice for an account that lacks a right.
    static let grant = "grant it Storage Object Admin (roles/storage.objectAdmin) on the bucket"

    /// A missing object and a missing bucket differ only in the text: `The specified bucket does not exist.`
    private func isOfBucket(_ message: String?) -> Bool { message?.lowercased().contains("specified bucket") == true }

    /// The delay that the server asks for. Nil if it states none, or states a date.
    static func retryAfter(_ headers: HTTPHeaders) -> Duration? {
        headers.first(name: "Retry-After").flatMap { Int64($0) }.map { .seconds(max(0, min($0, 86_400))) }
    }

    /// Percent-encodes a part of a URL (RFC 3986, section 2.3).
    static func encoded(_ text: String) -> String {
        var result = ""
        for byte in text.utf8 {
            switch byte {
            case 0x30...0x39, 0x41...0x5a, 0x61...0x7a, 0x2d, 0x2e, 0x5f, 0x7e:
                result.unicodeScalars.append(Unicode.Scalar(byte))
            default:
                result += "%" + [byte].hexadecimal.uppercased()
            }
        }
        return result
    }
}
