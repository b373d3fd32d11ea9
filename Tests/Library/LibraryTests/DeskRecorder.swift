import Control
import Takes
import Transport
import Workers

/// A recorder's socket on a separate thread that records its messages.
final class DeskRecorder {
    /// The received messages in order.
    let received: AsyncStream<RecorderMessage>
    private let ending = Mailbox<Void>()
    private var thread: Thread?

    /// Safe: only the serving thread uses it.
    private struct Serving: @unchecked Sendable {
        let server: PeerServer<RecorderMessage>
        let handler: Handler
    }

    private final class Handler: PeerHandler {
        let received: AsyncStream<RecorderMessage>.Continuation
        let meanwhile: @Sendable (RecorderMessage) -> Void
        let secondsLeft: Int
        let refusal: Refusal?
        /// Sends an event to a watching peer.
        var push: (PeerID) -> Void = { _ in }

        init(
            _ received: AsyncStream<RecorderMessage>.Continuation, _ secondsLeft: Int, _ refusal: Refusal?,
            _ meanwhile: @escaping @Sendable (RecorderMessage) -> Void
        ) {
            self.received = received
            self.secondsLeft = secondsLeft
            self.refusal = refusal
            self.meanwhile = meanwhile
        }

        private struct Status: Encodable {
            var time_left_seconds: Int
        }

        func carryOut(_ message: RecorderMessage, of peer: PeerID, answer: Answer) {
            meanwhile(message)
            received.yield(message)
            if let refusal, case .command(.discard) = message { return answer.refuse(refusal) }
            answer.succeed(object: Status(time_left_seconds: secondsLeft))
            if case .watch = message { push(peer) }
        }
    }

    /// - Parameters:
    ///   - secondsLeft: the recording time left in its status.
    ///   - refusal: the answer to each order to delete a take, or nil to carry it out.
    ///   - event: sent at once to each peer that watches, or nil.
    ///   - meanwhile: called with each message before the answer.
    init(
        _ path: String, secondsLeft: Int = 700, refusal: Refusal? = nil, event: String? = nil,
        meanwhile: @escaping @Sendable (RecorderMessage) -> Void = { _ in }
    ) throws {
        let (received, continuation) = AsyncStream.makeStream(of: RecorderMessage.self)
        self.received = received
        let serving = Serving(
            server: try PeerServer(path: path), handler: Handler(continuation, secondsLeft, refusal, meanwhile))
        thread = try Thread(name: "recorder") { [ending] in
            serving.server.handler = serving.handler
            if let event {
                serving.handler.push = { [unowned server = serving.server] in server.send(event, to: [$0]) }
            }
            let loop = Loop(clock: SystemClock())
            loop.watch(serving.server.fileDescriptor) { serving.server.serve(SystemClock().now()) }
            loop.watch(ending.fileDescriptor) { [unowned loop] in loop.stop() }
            loop.run { now in serving.server.turn(now) }
            serving.server.handler = nil
        }
    }

    func stop() {
        ending.post(())
        thread?.join()
        thread = nil
    }

    func next() async -> RecorderMessage? { await received.first { _ in true } }
}
