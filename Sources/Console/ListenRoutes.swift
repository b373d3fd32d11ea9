import HTTPTypes
import Hummingbird
import HummingbirdCore
import NIOCore
import NIOPosix
import Transport

/// The sound of the card, live: what the recorder's listening socket sends, passed on. A browser that is too slow misses some of it.
struct ListenRoutes: Sendable {
    /// The recorder's listening socket.
    let path: String
    let isAllowed: Bool
    let feed: RecorderFeed

    var routes: [Route] {
        [
            Route(.get, "/api/listen", for: .all) { request, _ in
                guard isAllowed else {
                    throw Problem(
                        .forbidden, .denied, "listen: the settings forbid it: [console] live_listening = true allows it"
                    )
                }
                let headers: HTTPFields = [.contentType: "audio/wav"]
                guard request.method == .get else { return Response(status: .ok, headers: headers) }
                let connection: NIOAsyncChannel<ByteBuffer, Never>
                do {
                    connection = try await connect()
                } catch {
                    throw Problem(.serviceUnavailable, .busy, "listen: \(path): the recorder does not answer: \(error)")
                }
                let body = ResponseBody { [feed] writer in
                    feed.listen(1)
                    defer { feed.listen(-1) }
                    // The closure below may not change what is outside of it.
                    nonisolated(unsafe) var output = writer
                    try await connection.executeThenClose { sound in
                        for try await piece in sound { try await unsafe output.write(piece) }
                    }
                    try await unsafe output.finish(nil)
                }
                return Response(status: .ok, headers: headers, body: body)
            }
        ]
    }

    private func connect() async throws -> NIOAsyncChannel<ByteBuffer, Never> {
        try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .connectTimeout(.seconds(5))
            .connect(unixDomainSocketPath: path) { channel in
                channel.eventLoop.makeCompletedFuture { try NIOAsyncChannel(wrappingChannelSynchronously: channel) }
            }
    }
}
