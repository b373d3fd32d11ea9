import Control
import HTTPTypes
import Hummingbird
import HummingbirdCore
import Logging
import NIOCore
import Takes
import Transport
import Upload

/// What a handler knows of a request beside the request itself.
struct ConsoleContext: RequestContext {
    var coreContext: CoreRequestContextStorage
    /// The connection that the request came by.
    let channel: any Channel
    /// Whether it came by TLS.
    var isSecure = false
    /// What the request asks for behind its path.
    var query = QueryItems()
    /// What the browser may do.
    var right = Right.none
    /// nil: the browser is not paired.
    var phone: PhoneBook.Phone?
    /// Whether all of the request's body has come.
    var arrival = BodyArrival()
    /// Whether what was allowed still is: an answer may take hours, and the phone may be removed meanwhile.
    var mayGoOn: @Sendable () -> Bool = { true }

    init(source: ApplicationRequestContextSource) {
        coreContext = CoreRequestContextStorage(source: source)
        channel = source.channel
    }

    /// A part of the path, decoded; as it was sent, if it is no text. With a NUL it is none: C would read what is before it.
    func parameter(_ name: String) -> String {
        let sent = parameters.get(name) ?? ""
        guard let text = PercentCoding.decoded(sent), !text.utf8.contains(0) else { return sent }
        return text
    }
}

/// Whether all of a request's body has come. May be used by any thread.
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

    /// What a small body may take, so that a browser that sends a byte now and then keeps no connection from others.
    private static let patience = TimeAmount.seconds(30)
    /// The same of a stranger.
    private static let strangersPatience = TimeAmount.seconds(10)

    /// The body, whole.
    /// - Throws: `Problem`. The connection of one that comes too slowly is closed.
    func wholeBody(_ context: ConsoleContext) async throws -> RequestBody {
        let channel = context.channel
        let deadline = channel.eventLoop.scheduleTask(
            in: context.phone == nil ? Self.strangersPatience : Self.patience
        ) { channel.close(promise: nil) }
        defer { deadline.cancel() }
        do {
            let bytes = try await body.collect(upTo: Self.longestBody)
            context.arrival.complete()
            return RequestBody(buffer: bytes)
        } catch is NIOTooManyBytesError {
            throw Problem(
                .contentTooLarge, .usage, "console: the request is longer than \(Self.longestBody) bytes: send less")
        }
    }

    /// The most bytes of a body: a memo of 4000 bytes, each escaped, fits.
    static let longestBody = 32 << 10

    /// The members of the JSON object in the body; none, if the body is empty.
    /// - Parameter known: the keys that it may have.
    /// - Throws: `Problem`.
    func members(_ known: [String] = []) async throws -> [String: JSONValue] {
        let bytes = try await body.collect(upTo: Self.longestBody)
        guard bytes.readableBytes > 0 else { return [:] }
        guard let value = try? JSONValue(decoding: bytes.readableBytesView), case .object(let members) = value else {
            throw Problem(
                .badRequest, .badData,
                "console: the request is not a JSON object, with at most \(JSONValue.deepest) levels and numbers below 1e128"
            )
        }
        if let stranger = members.keys.sorted().first(where: { !known.contains($0) }) {
            let allowed = known.isEmpty ? "none is allowed" : "allowed are \(known.joined(separator: ", "))"
            let name = JSONValue.string(String(stranger.prefix(40)))
            throw Problem(.badRequest, .usage, "console: the key \(name) is unknown: \(allowed)")
        }
        return members
    }
}
