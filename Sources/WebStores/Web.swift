import AsyncHTTPClient
import FoundationEssentials
import Glibc
import NIOCore
public import NIOHTTP1
import NIOPosix
import NIOSSL
import Takes
public import Upload

/// HTTP requests of stores. TLS with the system's roots, or those of a file; a proxy as `https_proxy` and `http_proxy` say.
public final class Web: Sendable {
    private let configuration: HTTPClient.Configuration
    /// How long an answer may take, beside what its bytes and those of the request take on a slow link.
    private let patience: Duration
    /// nil: nothing was asked yet, or it is closed.
    private let client = Locked<HTTPClient?>(nil)
    /// What sentences about a certificate end with.
    private let roots: String

    /// - Parameters:
    ///   - authorities: a file of certificates (PEM) that are trusted beside the system's; nil: none.
    ///   - silence: how long a server may be silent.
    ///   - patience: how long an answer may take, beside what its bytes and those of the request take on a slow link.
    /// - Throws: `StoreError`, `.refused`, if that file cannot be used.
    public init(
        authorities: String? = nil, silence: Duration = .seconds(60), patience: Duration = .seconds(600)
    ) throws(StoreError) {
        var configuration = HTTPClient.Configuration()
        self.patience = patience
        let silence = TimeAmount(silence)
        configuration.timeout = .init(connect: .seconds(20), read: silence, write: silence)
        configuration.connectionPool.idleTimeout = .seconds(30)
        configuration.connectionPool.retryConnectionEstablishment = false
        configuration.redirectConfiguration = .disallow
        configuration.decompression = .disabled
        configuration.httpVersion = .http1Only
        var tls = TLSConfiguration.makeClientConfiguration()
        if let authorities {
            do {
                tls.additionalTrustRoots = [.certificates(try NIOSSLCertificate.fromPEMFile(authorities))]
            } catch {
                throw StoreError(
                    .refused, "outbox: \(authorities): no certificates can be read from it: it must be a PEM file")
            }
        }
        configuration.tlsConfiguration = tls
        configuration.proxy = Self.proxy
        self.configuration = configuration
        roots = authorities ?? "the system's certificates"
    }

    // A client that goes without being shut down ends the program.
    deinit { client.withLock { $0 }?.shutdown { _ in } }

    /// Closes all connections. The next request opens one again.
    public func close() async {
        let old = client.withLock { client in
            defer { client = nil }
            return client
        }
        try? await old?.shutdown()
    }

    private var opened: HTTPClient {
        client.withLock { client in
            if let client { return client }
            let new = HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
            client = new
            return new
        }
    }

    private static var proxy: HTTPClient.Configuration.Proxy? {
        for name in ["https_proxy", "HTTPS_PROXY", "http_proxy", "all_proxy"] {
            // Safe: copied at once, and no thread changes the environment.
            if let value = unsafe getenv(name), let proxy = unsafe proxy(String(cString: value)) { return proxy }
        }
        return nil
    }

    /// The proxy of `http://USER:PASSWORD@HOST:PORT`, of which the scheme and the user may be missing; nil: it has no host, or no port.
    static func proxy(_ value: String) -> HTTPClient.Configuration.Proxy? {
        guard let url = URL(string: value.contains("://") ? value : "http://\(value)"), let host = url.host,
            let port = url.port
        else { return nil }
        guard let user = url.user(percentEncoded: false), let password = url.password(percentEncoded: false) else {
            return .server(host: host, port: port)
        }
        return .server(host: host, port: port, authorization: .basic(username: user, password: password))
    }

    /// What a request sends.
    public enum Body: Sendable {
        /// Nothing.
        case none
        /// These bytes.
        case bytes([UInt8])
        /// A stretch of a file. `report` receives how much of the file was taken to be sent.
        /// `isHashed`: whether the source hashes it on the way.
        case source(UploadSource, Range<Int64>, isHashed: Bool = true, report: @Sendable (Int64) -> Void)
    }

    /// An answer whose body was not read yet.
    public struct Answer: Sendable {
        /// The status code.
        public var status: Int
        /// The headers.
        public var headers: HTTPHeaders
        fileprivate var body: HTTPClientResponse.Body
        fileprivate var subject: String
        fileprivate var patience: Duration

        /// The whole body, which must not be longer than `limit` bytes.
        /// - Throws: `StoreError`, `.away`.
        public func bytes(limit: Int = 1 << 22) async throws -> [UInt8] {
            var bytes: [UInt8] = []
            try await read { piece in
                guard bytes.count + piece.count <= limit else {
                    throw StoreError(.refused, "outbox: \(subject): the answer is longer than \(limit) bytes")
                }
                bytes += piece
            }
            return bytes
        }

        /// Reads the body in order.
        /// - Throws: `StoreError`, `.away`, if the connection ends before it; what `receive` throws.
        public func read(_ receive: ([UInt8]) async throws -> Void) async throws {
            var pieces = body.makeAsyncIterator()
            var byteCount = 0
            var waited = Duration.zero
            while true {
                let piece: ByteBuffer?
                let begun = ContinuousClock.now
                do {
                    piece = try await pieces.next()
                } catch {
                    try Task.checkCancellation()
                    throw StoreError(.away, "outbox: \(subject): the answer was cut off: \(Web.reason(error))")
                }
                guard let piece else { return }
                waited += .now - begun
                byteCount += piece.readableBytes
                // A byte now and then keeps the connection, and would keep a task for ever.
                guard waited < patience + Web.allowance(byteCount) else {
                    throw StoreError(.away, "outbox: \(subject): the answer comes too slowly")
                }
                try await receive(Array(piece.readableBytesView))
            }
        }
    }

    /// Sends a request and waits for the head of the answer, whatever its status.
    /// - Parameters:
    ///   - url: with all that is secret in headers, never here: sentences show it up to the query.
    ///   - subject: what sentences are about; the host, unless given.
    /// - Throws: `StoreError`: `.away` if the server cannot be reached, `.refused` if its certificate is not trusted; what reading the
    ///   source throws.
    public func send(
        _ method: HTTPMethod, _ url: String, headers: HTTPHeaders = [:], body: Body = .none, subject: String? = nil
    ) async throws -> Answer {
        let subject = subject ?? Self.host(of: url)
        var request = HTTPClientRequest(url: url)
        request.method = method
        request.headers = headers
        let failure = FirstFailure()
        var byteCount = 0
        switch body {
        case .none: break
        case .bytes(let bytes):
            byteCount = bytes.count
            request.body = .bytes(ByteBuffer(bytes: bytes))
        case .source(let source, let range, let isHashed, let report):
            byteCount = range.count
            request.body = .stream(
                Pieces(source: source, range: range, isHashed: isHashed, report: report, failure: failure),
                length: .known(range.upperBound - range.lowerBound))
        }
        do {
            let response = try await opened.execute(request, timeout: TimeAmount(patience + Self.allowance(byteCount)))
            return Answer(
                status: Int(response.status.code), headers: response.headers, body: response.body, subject: subject,
                patience: patience)
        } catch {
            try Task.checkCancellation()
            if let failed = await failure.error { throw failed }
            throw problem(error, subject)
        }
    }

    /// How long so many bytes may take on the slowest link, at 1 kbit/s.
    fileprivate static func allowance(_ byteCount: Int) -> Duration { .milliseconds(8 * byteCount) }

    /// A server's text, fit for a sentence.
    static func printable(_ text: String) -> String {
        let isControl = { (scalar: Unicode.Scalar) in scalar.properties.generalCategory == .control }
        return String(String.UnicodeScalarView(text.unicodeScalars.prefix(300).map { isControl($0) ? " " : $0 }))
    }

    /// The server of a URL.
    public static func host(of url: String) -> String {
        guard let parsed = URL(string: url), let scheme = parsed.scheme, let host = parsed.host else {
            return "the server"
        }
        let place = host.contains(":") && !host.hasPrefix("[") ? "[\(host)]" : host
        return "\(scheme)://\(place)" + (parsed.port.map { ":\($0)" } ?? "")
    }

    /// Whether a secret may be sent there: by TLS, or within this machine.
    static func isSafeForSecrets(_ url: String) -> Bool {
        url.lowercased().hasPrefix("https://") || isLoopback(url)
    }

    /// Whether it is this machine.
    static func isLoopback(_ url: String) -> Bool {
        guard let host = URL(string: url)?.host else { return false }
        return host == "localhost" || host == "::1" || host == "[::1]" || isLoopbackAddress(host)
    }

    private static func isLoopbackAddress(_ host: String) -> Bool {
        let parts = host.split(separator: ".", omittingEmptySubsequences: false)
        return parts.count == 4 && parts[0] == "127" && parts.allSatisfy { UInt8($0) != nil }
    }

    private func problem(_ error: any Error, _ subject: String) -> StoreError {
        let reason = Self.reason(error)
        if reason.contains("CERTIFICATE_VERIFY_FAILED") || reason.contains("unableToValidateCertificate") {
            return StoreError(
                .refused,
                "outbox: \(subject): its certificate is not trusted by \(roots): see its date and the kit's clock, or name the "
                    + "authority in [outbox] ca_file")
        }
        if reason.contains("failedToValidateHostname") {
            return StoreError(
                .refused, "outbox: \(subject): its certificate is of a server of another name: correct the address")
        }
        if error is NIOSSLError || error is BoringSSLError {
            return StoreError(
                .away, "outbox: \(subject): cannot be reached by TLS: see whether its address begins with https://")
        }
        return StoreError(.away, "outbox: \(subject): cannot be reached: \(reason)")
    }

    fileprivate static func reason(_ error: any Error) -> String {
        switch error {
        case let error as HTTPClientError:
            if error == .connectTimeout { return "no answer within 20 s" }
            if error == .readTimeout || error == .writeTimeout { return "it was silent for too long" }
            if error == .remoteConnectionClosed { return "it closed the connection" }
            if error == .deadlineExceeded { return "it took too long to answer" }
            // The description has values, which may be secrets.
            return error.shortDescription
        case let error as NIOConnectionError:
            // It tries all addresses of a name, of both kinds.
            if let last = error.connectionErrors.last { return Self.reason(last.error) }
            return "its name cannot be resolved: check the network, and the address"
        case let error as IOError:
            // Safe: a string that lives until the next call on this thread.
            return unsafe String(cString: strerror(error.errnoCode))
        default: return "\(error)"
        }
    }

    /// The first error of a body: the client reports its own instead.
    private actor FirstFailure {
        private(set) var error: (any Error)?
        func note(_ error: any Error) { self.error = self.error ?? error }
    }

    /// A stretch of a source, piece by piece.
    private struct Pieces: AsyncSequence, Sendable {
        let source: UploadSource
        let range: Range<Int64>
        let isHashed: Bool
        let report: @Sendable (Int64) -> Void
        let failure: FirstFailure

        struct Iterator: AsyncIteratorProtocol {
            let pieces: Pieces
            var offset: Int64

            mutating func next() async throws -> ByteBuffer? {
                guard offset < pieces.range.upperBound else { return nil }
                do {
                    let count = Int(Swift.min(Int64(UploadSource.pieceByteCount), pieces.range.upperBound - offset))
                    let bytes = try await pieces.source.piece(
                        at: offset, count: count, isHashed: pieces.isHashed)
                    offset += Int64(bytes.count)
                    pieces.report(offset)
                    return ByteBuffer(bytes: bytes)
                } catch {
                    await pieces.failure.note(error)
                    throw error
                }
            }
        }

        func makeAsyncIterator() -> Iterator { Iterator(pieces: self, offset: range.lowerBound) }
    }
}
