import HTTPTypes
import Hummingbird
import HummingbirdCore
import NIOCore
import Transport

/// The live spectrogram: a head, then records without an end. A browser that is too slow misses some of them.
struct LiveSpectrumRoutes: Sendable {
    let spectrum: LiveSpectrum
    /// Speech can be reconstructed from a spectrogram, so who may not listen live may not watch it either.
    let isAllowed: Bool

    var routes: [Route] {
        [
            Route(.get, "/api/spectrum/live", for: .all) { request, context in
                guard isAllowed else {
                    throw Problem(.listeningForbidden(command: "spectrum"))
                }
                let headers: HTTPFields = [.contentType: "application/octet-stream"]
                guard request.method == .get else { return Response(status: .ok, headers: headers) }
                let (watcher, head) = try await begin()
                let body = ResponseBody { writer in
                    var piece: [UInt8]? = head
                    while let bytes = piece {
                        // A phone that was removed meanwhile receives nothing more.
                        guard context.mayGoOn() else { break }
                        try await writer.write(ByteBuffer(bytes: bytes))
                        // Waits until the network thread has the bytes, so that a slow browser stops this loop.
                        try await context.channel.eventLoop.submit {}.get()
                        piece = try? await watcher.next()
                    }
                    try await writer.finish(nil)
                }
                return Response(status: .ok, headers: headers, body: body)
            }
        ]
    }

    /// Waits for the head of the answer.
    private func begin() async throws -> (LiveSpectrum.Watcher, head: [UInt8]) {
        do {
            let watcher = try spectrum.watch()
            guard let head = try await watcher.next() else { throw CancellationError() }
            return (watcher, head)
        } catch let error as CancellationError {
            throw error
        } catch {
            throw Problem(.noSound(command: "spectrum", socket: spectrum.path, failure: "\(error)"))
        }
    }
}
