import Control
import HTTPTypes
import Hummingbird
import HummingbirdCore
import Logging
import NIOCore
import Takes
import Transport
import Upload

/// The context of a request for its handler.
struct ConsoleContext: RequestContext {
    var coreContext: CoreRequestContextStorage
    /// The connection of the request.
    let channel: any Channel
    /// Whether the request came by TLS.
    var isSecure = false
    var query = QueryItems()
    /// The members of the JSON object in the body; empty without a body.
    var members: [String: JSONValue] = [:]
    var right = Right.none
    /// Nil if the browser is not paired.
    var phone: PhoneBook.Phone?
    /// Whether the whole request body has arrived.
    var arrival = BodyArrival()
    /// Whether the right is still valid. An answer may take hours, and the phone may be removed meanwhile.
    var mayGoOn: @Sendable () -> Bool = { true }

    init(source: ApplicationRequestContextSource) {
        coreContext = CoreRequestContextStorage(source: source)
        channel = source.channel
    }

    /// A decoded part of the path, or the original one if it does not decode to text. A part with NUL is not decoded,
    /// because C functions would cut the text there.
    func parameter(_ name: String) -> String {
        let sent = parameters.get(name) ?? ""
        guard let text = PercentCoding.decoded(sent), !text.utf8.contains(0) else { return sent }
        return text
    }
}

/// Whether the whole body of a request has arrived. Thread-safe.
final class BodyArrival: Sendable {
    private let state = Locked(false)

    var isComplete: Bool { state.withLock(\.self) }

    func complete() { state.withLock { $0 = true } }
}

extension Request {
    /// Whether a body follows the head (RFC 9112, 6).
    var hasBody: Bool {
        headers[.transferEncoding] != nil || headers[.contentLength].map { $0 != "0" } ?? false
    }

    /// The time limit of a small body, so that a browser that sends a byte from time to time does not block a
    /// connection.
    private static let patience = TimeAmount.seconds(30)
    /// The same limit for a stranger.
    private static let strangersPatience = TimeAmount.seconds(10)

    /// The whole body. A connection that is too slow is closed.
    private func wholeBody(_ context: ConsoleContext) async throws -> ByteBuffer {
        let channel = context.channel
        let deadline = channel.eventLoop.scheduleTask(
            in: context.phone == nil ? Self.strangersPatience : Self.patience
        ) { channel.close(promise: nil) }
        defer { deadline.cancel() }
        do {
            let bytes = try await body.collect(upTo: Self.longestBody)
            context.arrival.complete()
            return bytes
        } catch is NIOTooManyBytesError {
            throw Problem(
                .contentTooLarge, .usage, "console: the request is longer than \(Self.longestBody) bytes: send less")
        }
    }

    /// The most bytes of a body: enough for a memo of 4000 bytes with every byte escaped.
    static let longestBody = 32 << 10

    /// The members of the JSON object in the body; empty if the body is empty.
    /// - Parameter known: the allowed keys.
    /// - Throws: `Problem`.
    func members(_ known: [String], _ context: ConsoleContext) async throws -> [String: JSONValue] {
        let bytes = try await wholeBody(context)
        guard bytes.readableBytes > 0 else { return [:] }
        guard let value = try? JSONValue(decoding: bytes.readableBytesView), case .object(let members) = value else {
            throw Problem(
                .badRequest, .badData,
                "console: the request is not a JSON object, with at most \(JSONValue.deepest) levels and numbers below 1e128"
            )
        }
        try members.checkKeys(known)
        return members
    }
}

extension [String: JSONValue] {
    /// Refuses a key that is not one of the known ones.
    func checkKeys(_ known: [String]) throws(Problem) {
        guard let stranger = keys.sorted().first(where: { !known.contains($0) }) else { return }
        let allowed = known.isEmpty ? "none is allowed" : "allowed are \(known.joined(separator: ", "))"
        let name = JSONValue.string(String(stranger.prefix(40)))
        throw Problem(.badRequest, .usage, "console: the key \(name) is unknown: \(allowed)")
    }
}
