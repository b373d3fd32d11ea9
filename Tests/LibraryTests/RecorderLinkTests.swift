import Control
import FinishedTakes
import Glibc
import Logging
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
        let faults: [Fault]

        init(_ received: AsyncStream<RecorderMessage>.Continuation, _ faults: [Fault]) {
            self.received = received
            self.faults = faults
        }

        private struct Status: Encodable {
            var faults: [Fault]
            var time_left_seconds: Int
        }

        func carryOut(_ message: RecorderMessage, of peer: PeerID, answer: Answer) {
            received.yield(message)
            answer.succeed(object: Status(faults: faults, time_left_seconds: 700))
        }
    }

    init(_ path: String, faults: [Fault] = []) throws {
        let (received, continuation) = AsyncStream.makeStream(of: RecorderMessage.self)
        self.received = received
        let serving = Serving(server: try PeerServer(path: path), handler: Handler(continuation, faults))
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
    private func link() throws -> RecorderLink {
        try RecorderLink(path: path, log: Logger(label: "test") { _ in KeptLog() })
    }

    @Test func `what the outbox does is shown, once, and again to a recorder that was restarted`() async throws {
        let link = try link()
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

    @Test func `the clock and the space are the recorder's; without one the clock is taken to be set`() async throws {
        let link = try link()
        #expect(await link.isClockSet)
        #expect(await link.secondsLeft == nil)
        let recorder = try DeskRecorder(path, faults: [Fault(.clockUnset, "clock: not set")])
        defer { recorder.stop() }
        #expect(await !link.isClockSet)
        #expect(await link.secondsLeft == 700)
        try await link.discard("heron07-0042-061811Z")
        var asked: [RecorderMessage] = []
        for await message in recorder.received.prefix(3) { asked.append(message) }
        #expect(asked == [.status, .status, .command(.discard(stem: "heron07-0042-061811Z"))])
    }
}
