import Glibc
import HTTPTypes
import Hummingbird
import HummingbirdCore
import Logging
import NIOCore
import NIOHTTPTypes
import NIOHTTPTypesHTTP1
import NIOPosix
import NIOSSL
import ServiceLifecycle
import Settings
import Takes

/// Accepts browsers' connections at one port, and passes each to `respond`.
///
/// SwiftNIO ends a server if one connection cannot be set up, for example when file descriptors run out. The server is
/// then opened again.
struct ConsoleServer: Sendable {
    let port: ConsolePort
    let crowd: Crowd
    let log: Logger
    /// Whether a request is a paired phone's.
    let isPaired: @Sendable (Request) -> Bool
    /// Receives whether browsers can connect.
    let opened: @Sendable (Bool) -> Void
    let respond: HTTPChannelHandler.Responder

    /// The connections of all servers of the console, which share their places.
    struct Crowd: Sendable {
        fileprivate let desk = ConnectionDesk(clock: SystemClock())
        fileprivate let room = Room(ConnectionLimits.most)
    }

    /// A browser that sends or reads nothing for this time is dropped.
    static let idle = TimeAmount.seconds(30)
    private static let unreadMilliseconds: Int = 30_000
    /// The pause before the server is opened again.
    private static let pause = Duration.seconds(2)

    private typealias Connection = NIOAsyncChannel<HTTPRequestPart, HTTPResponsePart>

    /// Serves until the library shuts down.
    func run() async {
        var reported = ""
        while !Task.isShuttingDownGracefully && !Task.isCancelled {
            do {
                try await serve()
                return
            } catch {
                guard !Task.isShuttingDownGracefully else { return }
                let sentence = "console: \(port.address): \(error): browsers cannot connect; it is attempted again"
                if sentence != reported { log.error("\(sentence)") }
                reported = sentence
            }
            try? await cancelWhenGracefulShutdown { try await Task.sleep(for: Self.pause) }
        }
    }

    private func serve() async throws {
        let http = HTTP1Channel(
            responder: { [desk = crowd.desk, isPaired, respond] request, writer, channel in
                desk.asked(channel, isPaired: isPaired(request))
                try await respond(request, writer, channel)
                desk.answered(channel)
            },
            configuration: .init(
                idleTimeout: Self.idle,
                httpDecoderConfiguration: .init(
                    maxHeaderFieldSize: 32 << 10, maxHeaderListSize: 64 << 10, maxHeaderFieldCount: 100)))
        let silent = Logger(label: "http") { _ in SwiftLogNoOpLogHandler() }
        let bootstrap = ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            .serverChannelOption(.backlog, value: 256)
            // A connection is accepted only when there is a free place.
            .serverChannelOption(.maxMessagesPerRead, value: 1)
            .childChannelOption(.tcpOption(.tcp_nodelay), value: 1)
            .childChannelOption(.tcpOption(.init(rawValue: TCP_USER_TIMEOUT)), value: Self.unreadMilliseconds)
            .childChannelOption(.writeBufferWaterMark, value: .init(low: 32 << 10, high: 64 << 10))
        let initialize: @Sendable (any Channel) -> EventLoopFuture<Connection> = { [tls = port.tls] channel in
            channel.eventLoop.makeCompletedFuture {
                guard let tls else { return }
                try channel.pipeline.syncOperations.addHandler(NIOSSLServerHandler(context: tls))
            }.flatMap {
                http.setup(channel: channel, logger: silent)
            }.flatMapThrowing { connection in
                let codec = try channel.pipeline.syncOperations.handler(type: HTTP1ToHTTPServerCodec.self)
                try channel.pipeline.syncOperations.addHandler(FileSending.Handler(), position: .before(codec))
                return connection
            }
        }
        let backPressure = NIOAsyncSequenceProducerBackPressureStrategies.HighLowWatermark(
            lowWatermark: 1, highWatermark: 2)
        let listening: NIOAsyncChannel<Connection, Never>
        if let inherited = port.inherited {
            // The next attempt needs the descriptor too.
            let copy = fcntl(inherited, F_DUPFD_CLOEXEC, 10)
            guard copy >= 0 else { throw IOError(errnoCode: errno, reason: "dup") }
            listening = try await bootstrap.bind(
                copy, serverBackPressureStrategy: backPressure, childChannelInitializer: initialize)
        } else {
            listening = try await bootstrap.bind(
                host: port.address.host, port: port.address.port, serverBackPressureStrategy: backPressure,
                childChannelInitializer: initialize)
        }
        opened(true)
        defer { opened(false) }
        // A browser that watches or downloads may stay for hours, so all connections are closed at shutdown.
        try await cancelWhenGracefulShutdown { try await accept(listening, http, silent) }
        if !Task.isShuttingDownGracefully { throw ChannelError.eof }
    }

    private func accept(_ listening: NIOAsyncChannel<Connection, Never>, _ http: HTTP1Channel, _ log: Logger)
        async throws
    {
        try await withThrowingDiscardingTaskGroup { group in
            let (desk, room) = (crowd.desk, crowd.room)
            try await listening.executeThenClose { connections in
                for try await connection in connections {
                    desk.came(connection.channel)
                    await room.enter()
                    group.addTask {
                        await http.handle(value: connection, logger: log)
                        desk.left(connection.channel)
                        await room.leave()
                    }
                }
            }
            group.cancelAll()
        }
    }
}
