import AsyncHTTPClient
import FoundationEssentials
import Glibc
import NIOCore
public import NIOHTTP1
import NIOPosix
import NIOSSL
public import Takes
public import Upload

/// HTTP requests of stores, by TLS with the system's roots and those of a file, and through a proxy if the environment
/// names one.
public final class Web: Sendable {
    private let configuration: HTTPClient.Configuration
    private let proxies: ProxyRules
    /// The time limit for an answer, not including the transfer time of its bytes and the request's bytes on a slow
    /// link.
    private let patience: Duration
    private let clock: any Clock
    /// Empty before the first request and after `close`.
    private let clients = Locked<[Route: HTTPClient]>([:])
    /// The end of sentences about a certificate.
    private let roots: String

    /// - Parameters:
    ///   - authorities: a file of certificates (PEM) that are trusted in addition to the system's; nil for none.
    ///   - silence: how long a server may be silent.
    ///   - patience: the time limit for an answer, not including the transfer time of its bytes and the request's bytes
    ///     on a slow link.
    ///   - environment: the variables that name proxies; nil for those of this process.
    /// - Throws: `StoreError`, `.refused` if the file of certificates cannot be used.
    public init(
        authorities: String? = nil, silence: Duration = .seconds(60), patience: Duration = .seconds(600),
        environment: [String: String]? = nil, clock: any Clock = SystemClock()
    ) throws(StoreError) {
        var configuration = HTTPClient.Configuration()
        self.patience = patience
        self.clock = clock
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
        self.configuration = configuration
        proxies = ProxyRules(environment: environment ?? ProcessInfo.processInfo.environment)
        roots = authorities ?? "the system's certificates"
    }

    // A client that is released without a shutdown ends the program.
    deinit { for client in clients.withLock({ $0 }).values { client.shutdown { _ in } } }

    /// Closes all connections. The next request opens a new one.
    public func close() async {
        let old = clients.withLock { clients in
            defer { clients = [:] }
            return clients
        }
        for client in old.values { try? await client.shutdown() }
    }

    private struct Route: Hashable {
        var proxy: ProxyRules.Proxy?
        /// Whether its connection serves this request alone.
        var isNew: Bool
    }

    private func client(for url: String, isNew: Bool) -> HTTPClient {
        let route = Route(proxy: proxies.proxy(for: url), isNew: isNew)
        return clients.withLock { clients in
            if let client = clients[route] { return client }
            var configuration = configuration
            configuration.proxy = route.proxy
            configuration.maximumUsesPerConnection = isNew ? 1 : nil
            let new = HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
            clients[route] = new
            return new
        }
    }

    public enum Body: Sendable {
        case none
        case bytes([UInt8])
        /// A range of a file. `report` receives the number of the file's bytes that were read to be sent.
        /// `isHashed`: whether the source hashes the bytes in the same pass.
        case source(UploadSource, Range<Int64>, isHashed: Bool = true, report: @Sendable (Int64) -> Void)
    }

    /// An answer whose body was not read yet.
    public struct Answer: Sendable {
        public var status: Int
        public var headers: HTTPHeaders
        fileprivate var body: HTTPClientResponse.Body
        fileprivate var subject: String
        fileprivate var patience: Duration
        fileprivate var clock: any Clock

        /// The whole body, at most `limit` bytes.
        /// - Throws: `StoreError`: `.away` if the connection ends early or is too slow, `.refused` if the body is too
        ///   long.
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
        /// - Throws: `StoreError`, `.away` if the connection ends early or is too slow; the errors of `receive`.
        public func read(_ receive: ([UInt8]) async throws -> Void) async throws {
            var pieces = body.makeAsyncIterator()
            var byteCount = 0
            var waited = Duration.zero
            while true {
                let piece: ByteBuffer?
                let begun = clock.now()
                do {
                    piece = try await pieces.next()
                } catch {
                    try Task.checkCancellation()
                    throw StoreError(.away, "outbox: \(subject): the answer was cut off: \(Web.reason(error))")
                }
                guard let piece else { return }
                waited += clock.now() - begun
                byteCount += piece.readableBytes
                // A byte from time to time would keep the connection and the task for ever.
                guard waited < patience + Web.allowance(byteCount) else {
                    throw StoreError(.away, "outbox: \(subject): the answer comes too slowly")
                }
                try await receive(Array(piece.readableBytesView))
            }
        }
    }

    /// Sends a request and waits for the head of the answer, whatever its status.
    ///
    /// A server may close a kept connection while the next request is in transit. A request without an answer is then
    /// sent once more on a new connection (RFC 9112, 9.3.1).
    /// - Parameters:
    ///   - url: without secrets, which belong in headers. Sentences show the URL up to the query.
    ///   - subject: the subject of sentences; by default the host.
    ///   - mayRepeat: whether the request is idempotent; nil means that its method decides.
    /// - Throws: `StoreError`: `.away` if the server cannot be reached, `.refused` if its certificate is not trusted;
    ///   errors from reading the source.
    public func send(
        _ method: HTTPMethod, _ url: String, headers: HTTPHeaders = [:], body: Body = .none, subject: String? = nil,
        mayRepeat: Bool? = nil
    ) async throws -> Answer {
        let subject = subject ?? Self.host(of: url)
        var request = HTTPClientRequest(url: Self.connectable(url))
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
        var isNew = false
        while true {
            do {
                let response = try await client(for: url, isNew: isNew)
                    .execute(request, timeout: TimeAmount(patience + Self.allowance(byteCount)))
                return Answer(
                    status: Int(response.status.code), headers: response.headers, body: response.body,
                    subject: subject, patience: patience, clock: clock)
            } catch {
                try Task.checkCancellation()
                if let failed = await failure.error { throw failed }
                guard !isNew, mayRepeat ?? Self.repeatable.contains(method.rawValue), Self.isClosed(error) else {
                    throw problem(error, subject)
                }
                isNew = true
            }
        }
    }

    /// Idempotent methods (RFC 9110, 9.2.2; RFC 4918).
    private static let repeatable: Set = [
        "GET", "HEAD", "PUT", "DELETE", "OPTIONS", "PROPFIND", "PROPPATCH", "MKCOL", "MOVE", "COPY",
    ]

    /// Whether the connection ended before an answer came, without a reason.
    private static func isClosed(_ error: any Error) -> Bool {
        switch error {
        case let error as HTTPClientError: error == .remoteConnectionClosed
        case let error as IOError: [ECONNRESET, EPIPE, ECONNABORTED, ENOTCONN].contains(error.errnoCode)
        case let error as ChannelError:
            [.ioOnClosedChannel, .alreadyClosed, .outputClosed, .inputClosed, .eof].contains(error)
        case let error as NIOSSLError: if case .uncleanShutdown = error { true } else { false }
        case let error as HTTPParserError: [.invalidEOFState, .closedConnection].contains(error)
        default: false
        }
    }

    /// The time for this many bytes on the slowest link, at 1 kbit/s.
    fileprivate static func allowance(_ byteCount: Int) -> Duration { .milliseconds(8 * byteCount) }

    /// A server's text without control characters, shortened for a sentence.
    static func printable(_ text: String) -> String {
        let isControl = { (scalar: Unicode.Scalar) in scalar.properties.generalCategory == .control }
        return String(String.UnicodeScalarView(text.unicodeScalars.prefix(300).map { isControl($0) ? " " : $0 }))
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

    /// The reason if a host name has no address.
    static let unresolved = "its name cannot be resolved: check the network, and the address"

    fileprivate static func reason(_ error: any Error) -> String {
        switch error {
        case let error as HTTPClientError:
            if error == .connectTimeout { return "no answer within 20 s" }
            if error == .readTimeout || error == .writeTimeout { return "it was silent for too long" }
            if error == .remoteConnectionClosed { return "it closed the connection" }
            if error == .deadlineExceeded { return "it took too long to answer" }
            // The full description has values, which may be secrets.
            return error.shortDescription
        case let error as NIOConnectionError:
            // The client tries all addresses of a name, IPv4 and IPv6.
            if let last = error.connectionErrors.last { return Self.reason(last.error) }
            return Self.unresolved
        case let error as IOError:
            return "\(SystemError(error.errnoCode))"
        default: return "\(error)"
        }
    }

    /// The first error of a body, kept here because the client reports its own error instead.
    private actor FirstFailure {
        private(set) var error: (any Error)?
        func note(_ error: any Error) { self.error = self.error ?? error }
    }

    /// A range of a source, piece by piece.
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
