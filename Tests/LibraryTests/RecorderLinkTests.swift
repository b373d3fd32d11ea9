import Control
import FinishedTakes
import Glibc
import Takes
import Testing
import Transport
import Workers

@testable import Library

/// A recorder's socket, on a thread of its own, that keeps what it is asked.
private final class DeskRecorder {
    /// What it received, in order.
    let received: AsyncStream<RecorderMessage>
    private let ending = Mailbox<Void>()
    private var thread: Thread?

    /// Only the thread that serves uses it.
    private struct Serving: @unchecked Sendable {
        let server: PeerServer<RecorderMessage>
        let handler: Handler
    }

    private final class Handler: PeerHandler {
        let received: AsyncStream<RecorderMessage>.Continuation

        init(_ received: AsyncStream<RecorderMessage>.Continuation) { self.received = received }

        private struct Status: Encodable {
            var time_left_seconds: Int
        }

        func carryOut(_ message: RecorderMessage, of peer: PeerID, answer: Answer) {
            received.yield(message)
            answer.succeed(object: Status(time_left_seconds: 700))
        }
    }

    init(_ path: String) throws {
        let (received, continuation) = AsyncStream.makeStream(of: RecorderMessage.self)
        self.received = received
        let serving = Serving(server: try PeerServer(path: path), handler: Handler(continuation))
        thread = try Thread(name: "recorder") { [ending] in
            serving.server.handler = serving.handler
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

@Suite(.timeLimit(.minutes(1))) struct RecorderLinkTests {
    private let disk = TakesOnDisk()
    private var path: String { "\(disk.path)/recorder.sock" }
    @Test func `what the outbox does is shown, once, and again to a recorder that was restarted`() async throws {
        let link = try RecorderLink(path: path)
        let running = Task { try await link.run() }
        defer { running.cancel() }
        var recorder = try DeskRecorder(path)
        link.show(.idle)
        link.show(.sending)
        #expect(await recorder.next() == .indicate(.sending))
        link.show(.sending)
        link.show(.refused(message: "outbox: full"))
        #expect(await recorder.next() == .indicate(.refused(message: "outbox: full")))
        recorder.stop()
        recorder = try DeskRecorder(path)
        defer { recorder.stop() }
        link.show(.refused(message: "outbox: full"))
        #expect(await recorder.next() == .indicate(.refused(message: "outbox: full")))
    }

    @Test func `a recorder that comes late is shown what holds then`() async throws {
        let link = try RecorderLink(path: path, pause: .milliseconds(1))
        let running = Task { try await link.run() }
        defer { running.cancel() }
        for _ in 1...100 { link.show(.sending) }
        link.show(.held)
        while await !link.isWaiting { await Task.yield() }
        let recorder = try DeskRecorder(path)
        defer { recorder.stop() }
        // What was shown before may still be under way.
        for await message in recorder.received where message == .indicate(.held) { break }
    }

    @Test func `the space is the recorder's, and the recorder deletes`() async throws {
        let link = try RecorderLink(path: path)
        #expect(await link.secondsLeft == nil)
        let recorder = try DeskRecorder(path)
        defer { recorder.stop() }
        #expect(await link.secondsLeft == 700)
        try await link.discard("heron07-0042-061811Z")
        var asked: [RecorderMessage] = []
        for await message in recorder.received.prefix(2) { asked.append(message) }
        #expect(asked == [.status, .command(.discard(stem: "heron07-0042-061811Z"))])
    }
}
