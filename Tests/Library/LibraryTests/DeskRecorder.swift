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

    private struct Status: Encodable {
        var time_left_seconds: Int
        var state: String
        var elapsed_seconds: Double?
        var synced_seconds: Double?
    }

    private final class Handler: PeerHandler {
        let received: AsyncStream<RecorderMessage>.Continuation
        let meanwhile: @Sendable (RecorderMessage) -> Void
        let status: Status
        let refusal: Refusal?
        /// Sends an event to a watching peer.
        var push: (PeerID) -> Void = { _ in }

        init(
            _ received: AsyncStream<RecorderMessage>.Continuation, _ status: Status, _ refusal: Refusal?,
            _ meanwhile: @escaping @Sendable (RecorderMessage) -> Void
        ) {
            self.received = received
            self.status = status
            self.refusal = refusal
            self.meanwhile = meanwhile
        }

        func carryOut(_ message: RecorderMessage, of peer: PeerID, answer: Answer) {
            meanwhile(message)
            received.yield(message)
            if let refusal, case .command(.discard) = message { return answer.refuse(refusal) }
            answer.succeed(object: status)
            if case .watch = message { push(peer) }
        }
    }

    /// - Parameters:
    ///   - secondsLeft: the recording time left in its status.
    ///   - recorded: the seconds of the take that it records, and those of them that are on the disk; or nil if it
    ///     records nothing.
    ///   - refusal: the answer to each order to delete a take, or nil to carry it out.
    ///   - event: sent at once to each peer that watches, or nil.
    ///   - meanwhile: called with each message before the answer.
    init(
        _ path: String, secondsLeft: Int = 700, recorded: (elapsed: Double, synced: Double)? = nil,
        refusal: Refusal? = nil, event: String? = nil,
        meanwhile: @escaping @Sendable (RecorderMessage) -> Void = { _ in }
    ) throws {
        let (received, continuation) = AsyncStream.makeStream(of: RecorderMessage.self)
        self.received = received
        let status = Status(
            time_left_seconds: secondsLeft, state: recorded == nil ? "idle" : "recording",
            elapsed_seconds: recorded?.elapsed, synced_seconds: recorded?.synced)
        let serving = Serving(
            server: try PeerServer(path: path), handler: Handler(continuation, status, refusal, meanwhile))
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
