import HTTPTypes
import Hummingbird
import HummingbirdCore
import NIOCore
import NIOPosix
import Transport

/// The live sound of the card, passed on from the recorder's listening socket. A browser that is too slow misses some
/// of it.
struct ListenRoutes: Sendable {
    /// The recorder's listening socket.
    let path: String
    let isAllowed: Bool
    /// Threads that may wait for the recorder.
    let pool: NIOThreadPool
    let feed: RecorderFeed

    var routes: [Route] {
        [
            Route(.get, "/api/listen", for: .all) { request, context in
                guard isAllowed else {
                    throw Problem(.listeningForbidden(command: "listen"))
                }
                let headers: HTTPFields = [.contentType: "audio/wav"]
                guard request.method == .get else { return Response(status: .ok, headers: headers) }
                let socket: LiveSocket
                do {
                    socket = try await pool.runIfActive { try LiveSocket(path: path) }
                } catch let failure as LiveSocket.Failure {
                    throw Problem(.noSound(command: "listen", socket: path, failure: "\(failure)"))
                }
                let body = ResponseBody { [feed] writer in
                    feed.listen(1)
                    defer { feed.listen(-1) }
                    // The closure below may not modify captured variables.
                    nonisolated(unsafe) var output = writer
                    if let connection = try await connection(socket) {
                        try await connection.executeThenClose { sound in
                            for try await piece in sound {
                                // A phone that was removed meanwhile receives nothing more.
                                guard context.mayGoOn() else { break }
                                try await unsafe output.write(piece)
                            }
                        }
                    }
                    try await unsafe output.finish(nil)
                }
                return Response(status: .ok, headers: headers, body: body)
            }
        ]
    }

    private func connection(_ socket: LiveSocket) async throws -> NIOAsyncChannel<ByteBuffer, Never>? {
        guard let file = socket.take() else { return nil }
        return try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .withConnectedSocket(file) { channel in
                channel.eventLoop.makeCompletedFuture { try NIOAsyncChannel(wrappingChannelSynchronously: channel) }
            }
    }
}
