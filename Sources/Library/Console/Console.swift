import Exports
import Glibc
import History
import Hummingbird
import HummingbirdCore
public import Library
import Logging
import NIOCore
import NIOPosix
public import ServiceLifecycle
public import Settings
import Takes

/// The console: the HTTP interface of a kit and the pages for phones, as a service of the library.
public struct Console: Service {
    let routes: [Route]
    private let servers: [ConsoleServer]
    private let pools: [NIOThreadPool]

    /// The console according to the settings; empty if they turn it off.
    /// - Parameters:
    ///   - settingsFile: the absolute path of the settings file. The password file, `console.password`, is next to it.
    ///   - tls: the address for TLS if the service manager opened no socket for it; nil for none.
    ///   - history: the folder of the kit's history; nil for that of an installed kit.
    /// - Throws: an error of one sentence, for example if a folder cannot be created.
    public static func services(
        at library: LibraryDesk, settingsFile: String, tls: ListenAddress?, history: String?
    ) throws -> [any Service] {
        let inherited = InheritedSockets.take()
        guard let address = library.settings.console.listen else {
            inherited.close()
            return []
        }
        let ports = [
            .plain(library, address, inherited.plain),
            ConsolePort.secure(library, beside: address, inherited.tls, orAt: tls),
        ].compactMap(\.self)
        let folder = HistoryFolder(history ?? HistoryFolder.usualPath)
        return [try Console(library, ports, settingsFile: settingsFile, history: folder), announcer(of: library)]
    }

    private static func announcer(of library: LibraryDesk) -> Announcer {
        let settings = library.settings
        return Announcer(
            path: settings.control.socket, kit: settings.kitName,
            file: "\(folder(of: settings.library.socket))/announce",
            log: library.log)
    }

    init(
        _ library: LibraryDesk, _ ports: [ConsolePort], settingsFile: String,
        history: HistoryFolder = HistoryFolder(HistoryFolder.usualPath)
    ) throws {
        let (settings, log, clock) = (library.settings, library.log, SystemClock())
        // Separate pools, so that waits for the disk and waits for the recorder do not delay each other.
        let (disk, asking) = (NIOThreadPool(numberOfThreads: 2), NIOThreadPool(numberOfThreads: 4))
        let (packing, drawing) = (NIOThreadPool(numberOfThreads: 1), NIOThreadPool(numberOfThreads: 1))
        pools = [disk, asking, packing, drawing]
        let (phones, problem) = PhoneBook.open(in: settings.library.directory)
        if let problem { log.error("\(problem)") }
        try phones.start()
        let recorder = RecorderDesk(path: settings.control.socket, pool: asking)
        let news = PhoneNews(recorder: recorder, log: log)
        let pairing = PairingDesk(
            phones, recorder, code: library.pairing,
            password: ConsolePassword(file: "\(Self.folder(of: settingsFile))/console.password", pool: disk),
            news: news,
            pool: disk, clock: clock)
        let feed = RecorderFeed(path: settings.control.socket)
        library.watch { feed.post(.catalog($0)) }
        let pyramid = try WaveformPyramid(in: "\(settings.library.directory)/waveforms")
        let securePort = Locked<Int?>(nil)
        let session = SessionRoutes(
            phones: phones, desk: pairing, ticket: Ticket(in: settings.library.directory), settings: settings,
            securePort: { securePort.withLock(\.self) }, pool: disk)
        let people = session.routes + LabelRoutes(library: library, pool: disk).routes
        routes =
            PageRoutes(kit: settings.kitName).routes + people
            + RecorderRoutes(recorder: recorder).routes + EventRoutes(feed: feed).routes
            + LibraryRoutes(library: library, pool: disk, news: news).routes
            + FileRoutes(library: library, pool: disk, nameTime: settings.takes.nameTime).routes
            + ExportRoutes(library: library, pyramid: pyramid, pool: disk, nameTime: settings.takes.nameTime).routes
            + SpectrumRoutes(library: library, pictures: TakePictures(), disk: disk, drawing: drawing).routes
            + DayRoutes(
                library: library, history: history, pyramid: pyramid, disk: disk, drawing: drawing
            ) { clock.wallTime() }.routes
            + SettingsRoutes(
                desk: SettingsDesk(
                    path: settingsFile, wishFolder: Self.folder(of: settings.library.socket),
                    outcomeFolder: "/run/fieldfare-settings"), news: news, pool: disk
            ).routes
            + HistoryRoutes(history: history, pool: disk).routes
            + LogRoutes(journal: Journal(), pool: disk).routes
            + SupportRoutes(
                SupportDesk(folder: "\(settings.library.directory)/support", settingsFile: settingsFile),
                packing: packing,
                disk: disk
            ).routes
            + UpdateRoutes(
                desk: UpdateDesk(
                    folder: "\(settings.library.directory)/update", kitFolder: "/run/fieldfare-kit",
                    trialMark: "/run/kit/trial", reservedBytes: Int64(settings.takes.reserveMiB) << 20), pool: disk
            ).routes
            + ListenRoutes(
                path: "\(Self.folder(of: settings.control.socket))/listen.sock",
                isAllowed: settings.console.hasLiveListening, pool: asking, feed: feed
            ).routes
            + LiveSpectrumRoutes(
                spectrum: LiveSpectrum(path: "\(Self.folder(of: settings.control.socket))/sound.sock"),
                isAllowed: settings.console.hasLiveListening
            ).routes
        let doorkeeper = Doorkeeper(
            phones, access: settings.console.access, hosts: [settings.kitName, KitName.hostName])
        let responder = Routes(routes, doorkeeper) { clock.wallTime() }
        let quiet = Logger(label: "console") { _ in SwiftLogNoOpLogHandler() }
        let isPaired: @Sendable (Request) -> Bool = { doorkeeper.visitor($0, now: clock.wallTime()).phone != nil }
        let crowd = ConsoleServer.Crowd()
        servers = ports.map { port in
            let isSecure = port.tls != nil
            let opened: @Sendable (Bool) -> Void = { isOpen in
                if isSecure { securePort.withLock { $0 = isOpen ? port.address.port : nil } }
            }
            return ConsoleServer(port: port, crowd: crowd, log: log, isPaired: isPaired, opened: opened) {
                request, writer, channel in
                var context = ConsoleContext(source: .init(channel: channel, logger: quiet))
                context.isSecure = isSecure
                let response = await responder.respond(to: request, context)
                let body = isSecure ? Self.paced(response.body, on: channel) : response.body
                try await writer.write(response: response.head, body: body)
                if response.headers[.connection] == "close" {
                    // The browser must read the answer first; closing the connection at once could lose it.
                    channel.eventLoop.scheduleTask(in: .seconds(2)) { channel.close(promise: nil) }
                }
            }
        }
    }

    /// Serves browsers until the library shuts down.
    public func run() async throws {
        for pool in pools { pool.start() }
        await withDiscardingTaskGroup { group in
            for server in servers { group.addTask { await server.run() } }
        }
        for pool in pools { try await pool.shutdownGracefully() }
    }

    /// Makes each piece of a body wait until all earlier pieces are encrypted. Only then does SwiftNIO know how much
    /// the browser has not read.
    private static func paced(_ body: ResponseBody, on channel: any Channel) -> ResponseBody {
        body.map { piece in
            try await channel.eventLoop.submit {}.get()
            return piece
        }
    }

    private static func folder(of path: String) -> String {
        path.split(separator: "/", omittingEmptySubsequences: false).dropLast().joined(separator: "/")
    }
}
