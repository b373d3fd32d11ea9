import Control
import Logging
import ServiceLifecycle
import Takes
import Transport
import Workers

/// The library's socket, served by its own thread, which never blocks on anything else.
final class LibraryServer: ServiceLifecycle.Service, Sendable {
    private let requests: LibraryRequests
    private let remote: RemoteDesk
    private let deletion: TakeDeletion
    private let sticks: StickDesk
    private let path: String
    private let log: Logger
    private let ending = Mailbox<Void>()
    private let listening = Locked<Listening?>(nil)

    /// Safe: only one thread at a time uses it: first the one that listens, then the one that serves.
    private struct Listening: @unchecked Sendable {
        var server: PeerServer<LibraryMessage>
    }

    init(
        path: String, _ requests: LibraryRequests, _ remote: RemoteDesk, _ deletion: TakeDeletion,
        _ sticks: StickDesk, log: Logger
    ) {
        self.path = path
        self.requests = requests
        self.remote = remote
        self.deletion = deletion
        self.sticks = sticks
        self.log = log
    }

    /// Opens the socket. Peers can connect from now on. They are answered once `run` runs.
    func listen() throws(ControlError) {
        let opened = Listening(server: try PeerServer(path: path))
        listening.withLock { $0 = opened }
    }

    /// Serves until shutdown. Without a socket, it only waits for the shutdown.
    func run() async throws {
        guard let opened = listening.withLock({ $0 }) else { return try await gracefulShutdown() }
        let (ended, end) = AsyncStream.makeStream(of: Never.self)
        let desk = try Desk(requests, remote, deletion, sticks)
        let thread = try Thread(name: "serve") { [ending] in
            Self.serve(opened.server, by: desk, until: ending)
            end.finish()
        }
        await withGracefulShutdownHandler {
            for await _ in ended {}
        } onGracefulShutdown: {
            self.ending.post(())
        }
        thread.join()
        listening.withLock { $0 = nil }
    }

    private static func serve(
        _ server: PeerServer<LibraryMessage>, by desk: Desk, until ending: Mailbox<Void>
    ) {
        let clock = SystemClock()
        server.handler = desk
        desk.isGone = { [unowned server] in !server.has($0) }
        let loop = Loop(clock: clock)
        loop.watch(server.fileDescriptor) { server.serve(clock.now()) }
        loop.watch(desk.fileDescriptor) { desk.deliver() }
        loop.watch(desk.remoteDescriptor) { desk.deliverRemote() }
        loop.watch(ending.fileDescriptor) { loop.stop() }
        loop.run { now in server.turn(now) }
        server.handler = nil
    }

    /// Passes requests to a thread that may block, and encodes the replies as JSON.
    ///
    /// Safe: after the initialiser, only the serving thread uses it.
    private final class Desk: PeerHandler, @unchecked Sendable {
        private typealias Reply = any LibraryReply

        private struct Order: Sendable {
            var number: Int
            var ask: @Sendable () throws(Refusal) -> Reply
        }

        private struct Outcome: Sendable {
            var number: Int
            /// The reply as a JSON object.
            var result: Result<String, Refusal>
        }

        private let worker: Worker<Order, Outcome>
        private let requests: LibraryRequests
        private let remote: RemoteDesk
        private let deletion: TakeDeletion
        private let sticks: StickDesk
        /// Replies to requests that involve stores or the recorder.
        private let pieces = Mailbox<Outcome>()
        /// The peers with requests to the stores.
        private var drawers: Set<PeerID> = []
        var isGone: (PeerID) -> Bool = { _ in false }
        private var waiting: [Int: Answer] = [:]
        private var last = 0

        init(
            _ requests: LibraryRequests, _ remote: RemoteDesk, _ deletion: TakeDeletion, _ sticks: StickDesk
        ) throws(ThreadError) {
            self.requests = requests
            self.remote = remote
            self.deletion = deletion
            self.sticks = sticks
            worker = Worker(clock: SystemClock()) { orders, _, outcomes in
                for order in orders {
                    let result = Result { () throws(Refusal) in try order.ask().json }
                    outcomes.post(Outcome(number: order.number, result: result))
                }
                return nil
            }
            try worker.start(name: "requests")
        }

        /// Readable while there are replies.
        var fileDescriptor: Int32 { worker.fileDescriptor }
        /// Readable while there are replies that involve stores or the recorder.
        var remoteDescriptor: Int32 { pieces.fileDescriptor }

        func carryOut(_ message: LibraryMessage, of peer: PeerID, answer: Answer) {
            last += 1
            waiting[last] = answer
            switch message {
            case .status: order { [requests] () throws(Refusal) in try requests.status() }
            case .takes(let query): order { [requests] () throws(Refusal) in try requests.takes(query) }
            case .show(let take): order { [requests] () throws(Refusal) in try requests.show(take) }
            case .change(let take, let change):
                order { [requests] () throws(Refusal) in
                    try requests.change(take, [change], for: change.kind.rawValue)
                }
            case .outbox(let limit): order { [requests] () throws(Refusal) in try requests.outbox(limit: limit) }
            case .outboxWish(let wish): order { [requests] () throws(Refusal) in try requests.carryOut(wish) }
            case .outboxDecision(let decision, let take):
                order { [requests] () throws(Refusal) in try requests.carryOut(decision, of: take) }
            case .pairingCode(let isNew):
                order { [requests] () throws(Refusal) in try requests.pairingCode(isNew: isNew) }
            case .remote(let request):
                drawers.insert(peer)
                reply { [remote] () throws(Refusal) in try await remote.answer(request, of: peer) }
            case .delete(let stem, let wanted):
                reply { [deletion] () throws(Refusal) in try await deletion.answer(stem, wanted) }
            case .acceptDamaged(let stem):
                reply { [deletion] () throws(Refusal) in try await deletion.acceptDamaged(stem) }
            case .adoptStick:
                reply { [sticks] () throws(Refusal) in try await sticks.adopt(by: "by 'fieldfare stick adopt'").reply }
            }
        }

        /// Answers the last request with the result of `ask`. The requests run one after the other.
        private func order(_ ask: @escaping @Sendable () throws(Refusal) -> Reply) {
            worker.post(Order(number: last, ask: ask))
        }

        /// Answers the last request with the result of `body`.
        private func reply(_ body: @escaping @Sendable () async throws(Refusal) -> Reply) {
            Task { [pieces, number = last] in
                let result: Result<String, Refusal>
                do throws(Refusal) {
                    result = .success(try await body().json)
                } catch {
                    result = .failure(error)
                }
                pieces.post(Outcome(number: number, result: result))
            }
        }

        func peersMayHaveGone() {
            let gone = drawers.filter(isGone)
            guard !gone.isEmpty else { return }
            drawers.subtract(gone)
            Task { [remote] in await remote.end(of: gone) }
        }

        func deliver() { deliver(worker.outcomes()) }
        func deliverRemote() { deliver(pieces.take()) }

        private func deliver(_ outcomes: [Outcome]) {
            for outcome in outcomes {
                guard let answer = waiting.removeValue(forKey: outcome.number) else { continue }
                switch outcome.result {
                case .success(let object): answer.succeed(json: object)
                case .failure(let refusal): answer.refuse(refusal)
                }
            }
        }
    }
}
