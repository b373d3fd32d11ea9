import Control
import Hummingbird
import Logging
import NIOCore
import Transport

/// What a handler knows of a request beside the request itself.
struct ConsoleContext: RequestContext {
    var coreContext: CoreRequestContextStorage
    /// The connection that the request came by.
    let channel: any Channel
    /// What the browser may do.
    var right = Right.none
    /// nil: the browser is not paired.
    var phone: PhoneBook.Phone?
    /// Whether what was allowed still is: an answer may take hours, and the phone may be removed meanwhile.
    var mayGoOn: @Sendable () -> Bool = { true }

    init(source: ApplicationRequestContextSource) {
        coreContext = CoreRequestContextStorage(source: source)
        channel = source.channel
    }

    /// A part of the path.
    func parameter(_ name: String) -> String { parameters.get(name) ?? "" }
}

extension Request {
    /// The most bytes of a body: a memo of 4000 bytes, each escaped, fits.
    static let longestBody = 32 << 10

    /// The members of the JSON object in the body; none, if the body is empty.
    /// - Parameter known: the keys that it may have.
    /// - Throws: `Problem`.
    func members(_ known: [String] = []) async throws -> [String: JSONValue] {
        let bytes: ByteBuffer
        do {
            bytes = try await body.collect(upTo: Self.longestBody)
        } catch is NIOTooManyBytesError {
            throw Problem(
                .contentTooLarge, .usage, "console: the request is longer than \(Self.longestBody) bytes: send less")
        }
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
