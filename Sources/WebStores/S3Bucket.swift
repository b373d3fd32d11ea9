import Digests
import FoundationEssentials
import NIOHTTP1
import Settings
import Takes
import Upload

/// Where a bucket is.
struct S3Address: Sendable {
    /// Scheme, host and port.
    let server: String
    /// As the `Host` header has it.
    let host: String
    /// Path of the bucket, percent-encoded, without a slash at its end.
    let path: String
    /// As sentences and receipts call it.
    let place: String

    /// A service that is named has the bucket in the path. Amazon's own has it in the host, if its certificate fits such a name.
    init(_ settings: Settings.Outbox.S3) throws(StoreError) {
        guard let bucket = settings.bucket else {
            throw StoreError(.refused, "outbox: a bucket is missing: write bucket = \"…\" in [outbox.s3]")
        }
        let encoded = SignatureV4.encoded(bucket)
        guard let endpoint = settings.endpoint else {
            let domain = "s3.\(settings.region).amazonaws.com" + (settings.region.hasPrefix("cn-") ? ".cn" : "")
            let isLabel = bucket.utf8.allSatisfy {
                (0x61...0x7a).contains($0) || (0x30...0x39).contains($0) || $0 == UInt8(ascii: "-")
            }
            host = isLabel ? "\(bucket).\(domain)" : domain
            server = "https://\(host)"
            path = isLabel ? "" : "/\(encoded)"
            place = "https://\(domain)/\(bucket)"
            return
        }
        let parts = endpoint.split(separator: "/", maxSplits: 3, omittingEmptySubsequences: false)
        guard parts.count >= 3, ["http:", "https:"].contains(parts[0]), parts[1].isEmpty, !parts[2].isEmpty,
            !endpoint.contains(where: { "?#@".contains($0) })
        else {
            throw StoreError(
                .refused,
                "outbox: endpoint in [outbox.s3] is no address of a service: it is https://HOST or https://HOST:PORT, without a user"
            )
        }
        server = "\(parts[0])//\(parts[2])"
        let usual = parts[0] == "https:" ? ":443" : ":80"
        host = String(parts[2].hasSuffix(usual) ? parts[2].dropLast(usual.count) : parts[2])
        let base = parts.count > 3 ? parts[3].split(separator: "/").map { "/\($0)" }.joined() : ""
        path = "\(base)/\(encoded)"
        place = "\(server)\(base)/\(bucket)"
    }
}

/// A bucket of a service with the S3 protocol: signed requests to it.
final class S3Bucket: Sendable {
    let settings: Settings.Outbox.S3
    let address: S3Address
    /// The file that sentences about the key name.
    let credentialsPath: String
    private let signature: SignatureV4
    private let web: Web
    private let now: @Sendable () -> WallTime
    private let learned = Locked(Learned())

    /// What the server's answers showed.
    private struct Learned: Sendable {
        /// How far its clock is ahead of this machine's.
        var clockLead = Duration.zero
        /// Headers that it refuses, and that a request does without.
        var refused: Set<String> = []
    }

    /// S3 accepts 15 minutes; others less.
    private static let tolerance: Int64 = 300_000_000

    init(_ settings: Settings.Outbox.S3, web: Web, now: @escaping @Sendable () -> WallTime) throws(StoreError) {
        self.settings = settings
        self.web = web
        self.now = now
        address = try S3Address(settings)
        let file = try SecretFile(settings.credentialsFile)
        credentialsPath = file.path
        let keys = try file.values("access_key_id", "secret_access_key")
        signature = SignatureV4(keyID: keys[0], key: keys[1], region: settings.region)
    }

    struct Request: Sendable {
        var method: HTTPMethod
        /// nil: the bucket itself.
        var key: String?
        var query: [(name: String, value: String)] = []
        var headers: [(name: String, value: String)] = []
        var body = Body.none
    }

    enum Body: Sendable {
        case none
        case bytes([UInt8])
        /// A part of a file, and the part's hash. `report` receives how much of the file was taken to be sent.
        case part(UploadSource, Range<Int64>, sha256: String, report: @Sendable (Int64) -> Void)

        func sha256() -> String {
            switch self {
            case .none: Digest.sha256([UInt8]()).hexadecimal
            case .bytes(let bytes): Digest.sha256(bytes).hexadecimal
            case .part(_, _, let sha256, _): sha256
            }
        }

        var web: Web.Body {
            switch self {
            case .none: .none
            case .bytes(let bytes): .bytes(bytes)
            case .part(let source, let range, _, let report):
                // A body of no bytes needs no stream.
                range.isEmpty ? .bytes([]) : .source(source, range, isHashed: false, report: report)
            }
        }
    }

    /// Whether the server refused a header before.
    func refuses(_ header: String) -> Bool { learned.withLock { $0.refused.contains(header) } }

    /// Sends a request, once more if the clocks differ, or without the headers that the server does not know.
    /// - Throws: `S3Failure` for an answer that is no success; `StoreError` if there was none.
    func send(_ request: Request) async throws -> Web.Answer {
        var request = request
        var isClockSet = false
        while true {
            let (lead, refused) = learned.withLock { ($0.clockLead, $0.refused) }
            let time = now() + lead
            request.headers.removeAll { refused.contains($0.name) }
            let answer = try await web.send(
                request.method, url(of: request), headers: headers(of: request, at: time), body: request.body.web,
                subject: address.place)
            if (200..<300).contains(answer.status) { return answer }
            // Without its body, an answer says less.
            let body = (try? await answer.bytes(limit: 1 << 16)) ?? []
            try Task.checkCancellation()
            let failure = S3Failure(status: answer.status, headers: answer.headers, body: body)
            if !isClockSet, failure.status == 403, let server = Self.date(of: answer.headers),
                failure.code == "RequestTimeTooSkewed"
                    || abs(server.microseconds - time.microseconds) > Self.tolerance
            {
                isClockSet = true
                let local = now()
                learned.withLock { $0.clockLead = .microseconds(server.microseconds - local.microseconds) }
                continue
            }
            let unknown = failure.unknown(of: request.headers.map(\.name))
            guard !unknown.isEmpty else { throw failure }
            learned.withLock { $0.refused.formUnion(unknown) }
        }
    }

    /// Sends a request, and reads the whole answer.
    @discardableResult
    func ask(_ request: Request) async throws -> (headers: HTTPHeaders, body: [UInt8]) {
        let answer = try await send(request)
        return (answer.headers, try await answer.bytes())
    }

    /// Sends a request, and reads an answer of a document whose root begins so: moto ends it otherwise than S3.
    func document(_ root: String, _ request: Request) async throws -> WebXML {
        let (headers, body) = try await ask(request)
        guard let document = WebXML(body), document.name.hasPrefix(root) || document.name == "Error" else {
            throw StoreError(
                .refused,
                "outbox: \(address.place): does not answer as an S3 service does: see endpoint in [outbox.s3]")
        }
        // An error may come after the head of the answer.
        if document.name == "Error" { throw S3Failure(status: 200, headers: headers, body: body) }
        return document
    }

    func close() async { await web.close() }

    /// A text of the server, fit for a sentence.
    func withoutSecrets(_ text: String) -> String {
        // Some services repeat what they were sent.
        var text = String(text.prefix(upTo: text.firstRange(of: SignatureV4.algorithm)?.lowerBound ?? text.endIndex))
        for secret in [signature.keyID, signature.key] { text = secret.hidden(in: text) }
        return Web.printable(text)
    }

    private func path(of request: Request) -> String {
        guard let key = request.key else { return address.path.isEmpty ? "/" : address.path }
        return "\(address.path)/\(SignatureV4.encoded(key, keepingSlashes: true))"
    }

    private func url(of request: Request) -> String {
        let query = request.query.map { name, value in
            let name = SignatureV4.encoded(name)
            return value.isEmpty ? name : "\(name)=\(SignatureV4.encoded(value))"
        }
        return address.server + path(of: request) + (query.isEmpty ? "" : "?" + query.joined(separator: "&"))
    }

    private func headers(of request: Request, at time: WallTime) -> HTTPHeaders {
        let payload = request.body.sha256()
        var headers = request.headers
        headers.append(("host", address.host))
        headers.append(("x-amz-date", SignatureV4.stamp(time)))
        headers.append(("x-amz-content-sha256", payload))
        // A proxy may change other headers.
        let signed = headers.filter { $0.name.hasPrefix("x-amz-") || ["host", "content-type"].contains($0.name) }
        let authorization = signature.authorization(
            of: .init(
                method: request.method.rawValue, path: path(of: request), query: request.query, headers: signed,
                payload: payload), at: time)
        headers.append(("authorization", authorization.text))
        return HTTPHeaders(headers.map { ($0.name, $0.value) })
    }

    /// 1970 to 2100, as microseconds since 1970.
    private static let believable: Range<Int64> = 0..<4_102_444_800_000_000

    /// `Sun, 06 Nov 1994 08:49:37 GMT` (RFC 9110, 5.6.7); nil: it is none, or no time of today's servers.
    static func date(of headers: HTTPHeaders) -> WallTime? {
        guard let words = headers.first(name: "date")?.split(separator: " "), words.count == 6, words[5] == "GMT",
            let month = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
                .firstIndex(of: words[2])
        else { return nil }
        let number = String(month + 101).dropFirst()
        let time = WallTime(iso8601: "\(words[3])-\(number)-\(words[1])T\(words[4]).000000Z")
        // The distance to a time that is none has more nanoseconds than can be counted.
        return time.flatMap { believable.contains($0.microseconds) ? $0 : nil }
    }
}
