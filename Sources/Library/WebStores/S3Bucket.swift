import Digests
import FoundationEssentials
import NIOHTTP1
import Settings
import Takes
import Upload

/// Signed requests to a bucket with the S3 protocol.
final class S3Bucket: Sendable {
    let settings: Settings.Outbox.S3
    let address: S3Address
    /// The key file named in sentences.
    let credentialsPath: String
    private let signature: SignatureV4
    private let web: Web
    private let now: @Sendable () -> WallTime
    private let learned = Locked(Learned())

    /// The behaviour that the server's answers showed.
    private struct Learned: Sendable {
        /// How far the server's clock is ahead of this machine's.
        var clockLead = Duration.zero
        /// Headers that the server refuses, and that requests do not need.
        var refused: Set<String> = []
        /// Whether the server requires the MD5 of each body, as buckets with Object Lock do.
        var wantsMD5 = false
        /// The index of the current target of the address.
        var target = 0
        /// Whether a request to that target succeeded.
        var isTargetProven = false
        /// Methods for which the other targets were already tried on suspicion alone.
        var tried: Set<String> = []
    }

    /// S3 accepts 15 minutes; other services accept less.
    private static let tolerance: Int64 = 300_000_000

    init(_ settings: Settings.Outbox.S3, web: Web, now: @escaping @Sendable () -> WallTime) throws(StoreError) {
        self.settings = settings
        self.web = web
        self.now = now
        address = try S3Address(settings)
        let file = try SecretFile(settings.credentialsFile)
        credentialsPath = file.path
        try Web.check(
            address.server, called: address.place, for: "takes and what the key in \(file.path) signs")
        try file.checkHost(of: settings.address)
        let keys = try file.values("access_key_id", "secret_access_key")
        signature = SignatureV4(keyID: keys[0], key: keys[1], region: settings.region)
    }

    struct Request: Sendable {
        var method: HTTPMethod
        /// Nil for the bucket itself.
        var key: String?
        var query: [(name: String, value: String)] = []
        var headers: [(name: String, value: String)] = []
        var body = Body.none
        /// Whether the request is idempotent; nil means that its method decides.
        var mayRepeat: Bool?
        /// Whether the request must not be sent without its condition, because nothing else protects another object
        /// from being overwritten.
        var needsCondition = false
    }

    enum Body: Sendable {
        case none
        case bytes([UInt8])
        /// A part of a file, and the part's hashes. `report` receives the number of the file's bytes that were read to
        /// be sent.
        case part(UploadSource, Range<Int64>, sha256: String, md5: [UInt8], report: @Sendable (Int64) -> Void)

        func sha256() -> String {
            switch self {
            case .none: Digest.sha256([UInt8]()).hexadecimal
            case .bytes(let bytes): Digest.sha256(bytes).hexadecimal
            case .part(_, _, let sha256, _, _): sha256
            }
        }

        func md5() -> [UInt8] {
            switch self {
            case .none: Digest.of([UInt8](), .md5)
            case .bytes(let bytes): Digest.of(bytes, .md5)
            case .part(_, _, _, let md5, _): md5
            }
        }

        var web: Web.Body {
            switch self {
            case .none: .none
            case .bytes(let bytes): .bytes(bytes)
            case .part(let source, let range, _, _, let report):
                // An empty body needs no stream.
                range.isEmpty ? .bytes([]) : .source(source, range, isHashed: false, report: report)
            }
        }
    }

    /// The index of the current target.
    var target: Int { learned.withLock(\.target) }

    /// Whether the server refused a header before.
    func refuses(_ header: String) -> Bool { learned.withLock { $0.refused.contains(header) } }

    /// Sends a request. It is repeated with a corrected time if the clocks differ, without headers that the server does
    /// not know, with headers that it requires, or with the bucket in another place of the request.
    /// - Throws: `S3Failure` for an answer without success; `StoreError` if there was no answer.
    func send(_ request: Request) async throws -> Web.Answer {
        let index = learned.withLock(\.target)
        do {
            let answer = try await send(request, to: address.targets[index])
            learned.withLock { if $0.target == index { $0.isTargetProven = true } }
            return answer
        } catch let failure as S3Failure {
            guard failure.isOfAddressing || suspects(failure, request.method) else { throw failure }
            guard let answer = try await elsewhere(request, than: index, isSure: failure.isOfAddressing) else {
                throw failure
            }
            return answer
        } catch let error as StoreError where error.problem == .away && error.sentence.hasSuffix(Web.unresolved) {
            guard !learned.withLock(\.isTargetProven),
                let answer = try await elsewhere(request, than: index, isSure: true)
            else { throw error }
            return answer
        }
    }

    /// Whether the place of the bucket in the request may have caused a failure. It is suspected only before the first
    /// success, and once for each method.
    private func suspects(_ failure: S3Failure, _ method: HTTPMethod) -> Bool {
        guard failure.mayBeOfAddressing, method != .HEAD else { return false }
        return learned.withLock { !$0.isTargetProven && $0.tried.insert(method.rawValue).inserted }
    }

    /// Sends a request with the bucket in another place, and keeps that place if the service's answer confirms it.
    /// - Parameter isSure: whether the current place is certainly wrong. If so, any other answer of the service
    ///   confirms the new place.
    /// - Returns: nil if no other place is better.
    private func elsewhere(_ request: Request, than index: Int, isSure: Bool) async throws -> Web.Answer? {
        for other in address.targets.indices where other != index {
            do {
                let answer = try await send(request, to: address.targets[other])
                learned.withLock { ($0.target, $0.isTargetProven) = (other, true) }
                return answer
            } catch let failure as S3Failure where !failure.isOfAddressing {
                guard isSure ? failure.isOfService : failure.code == "NoSuchKey" else { continue }
                learned.withLock { ($0.target, $0.isTargetProven) = (other, false) }
                throw failure
            } catch is S3Failure {
            } catch is StoreError {
                try Task.checkCancellation()
            }
        }
        return nil
    }

    /// The error if nothing protects other objects from being overwritten.
    var overwriting: StoreError {
        StoreError(
            .refused,
            "outbox: \(address.place): neither shows what is there nor knows If-None-Match, so that a file could be overwritten: grant "
                + "the key in \(credentialsPath) the right to read")
    }

    private func send(_ request: Request, to target: S3Address.Target) async throws -> Web.Answer {
        var request = request
        var isClockSet = false
        while true {
            let (lead, refused, wantsMD5) = learned.withLock { ($0.clockLead, $0.refused, $0.wantsMD5) }
            let time = now() + lead
            request.headers.removeAll { refused.contains($0.name) }
            if request.needsCondition, refused.contains("if-none-match") { throw overwriting }
            let hasMD5 = wantsMD5 && [.PUT, .POST].contains(request.method)
            let answer = try await web.send(
                request.method, url(of: request, at: target),
                headers: headers(of: request, at: target, time, withMD5: hasMD5), body: request.body.web,
                subject: address.place, mayRepeat: request.mayRepeat)
            if (200..<300).contains(answer.status) { return answer }
            // An answer is used even if its body cannot be read.
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
            if failure.isOfMissingMD5, !hasMD5, [.PUT, .POST].contains(request.method) {
                learned.withLock { $0.wantsMD5 = true }
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

    /// Sends a request, and reads an XML document. Only the beginning of the root's name is checked, because moto ends
    /// the name differently from S3.
    func document(_ root: String, _ request: Request) async throws -> WebXML {
        let (headers, body) = try await ask(request)
        guard let document = WebXML(body), document.name.hasPrefix(root) || document.name == "Error" else {
            throw StoreError(
                .refused,
                "outbox: \(address.place): does not answer as an S3 service does: see endpoint in [outbox.s3]")
        }
        // An error may follow after the head of a successful answer.
        if document.name == "Error" { throw S3Failure(status: 200, headers: headers, body: body) }
        return document
    }

    func close() async { await web.close() }

    /// A server's text for a sentence, without secrets.
    func withoutSecrets(_ text: String) -> String {
        // Some services echo the request.
        var text = String(text.prefix(upTo: text.firstRange(of: SignatureV4.algorithm)?.lowerBound ?? text.endIndex))
        for secret in [signature.keyID, signature.key] { text = secret.hidden(in: text) }
        return Web.printable(text)
    }

    private func path(of request: Request, at target: S3Address.Target) -> String {
        guard let key = request.key else { return target.path.isEmpty ? "/" : target.path }
        return "\(target.path)/\(SignatureV4.encoded(key, keepingSlashes: true))"
    }

    private func url(of request: Request, at target: S3Address.Target) -> String {
        let query = request.query.map { name, value in
            let name = SignatureV4.encoded(name)
            return value.isEmpty ? name : "\(name)=\(SignatureV4.encoded(value))"
        }
        return target.server + path(of: request, at: target) + (query.isEmpty ? "" : "?" + query.joined(separator: "&"))
    }

    private func headers(
        of request: Request, at target: S3Address.Target, _ time: WallTime, withMD5: Bool
    ) -> HTTPHeaders {
        let payload = request.body.sha256()
        var headers = request.headers
        headers.append(("host", target.host))
        if withMD5 { headers.append(("content-md5", Data(request.body.md5()).base64EncodedString())) }
        headers.append(("x-amz-date", SignatureV4.stamp(time)))
        headers.append(("x-amz-content-sha256", payload))
        // A proxy may change other headers.
        let signed = headers.filter {
            $0.name.hasPrefix("x-amz-") || ["host", "content-type", "content-md5"].contains($0.name)
        }
        let authorization = signature.authorization(
            of: .init(
                method: request.method.rawValue, path: path(of: request, at: target), query: request.query,
                headers: signed,
                payload: payload), at: time)
        headers.append(("authorization", authorization.text))
        return HTTPHeaders(headers.map { ($0.name, $0.value) })
    }

    /// 1970 to 2100, in microseconds since 1970.
    private static let believable: Range<Int64> = 0..<4_102_444_800_000_000

    /// `Sun, 06 Nov 1994 08:49:37 GMT` (RFC 9110, 5.6.7). Nil if malformed, or not within the believable range.
    static func date(of headers: HTTPHeaders) -> WallTime? {
        guard let words = headers.first(name: "date")?.split(separator: " "), words.count == 6, words[5] == "GMT",
            let month = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
                .firstIndex(of: words[2])
        else { return nil }
        let number = String(month + 101).dropFirst()
        let time = WallTime(iso8601: "\(words[3])-\(number)-\(words[1])T\(words[4]).000000Z")
        // The difference to an absurd time would overflow in nanoseconds.
        return time.flatMap { believable.contains($0.microseconds) ? $0 : nil }
    }
}
