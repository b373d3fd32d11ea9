import Logging
import ServiceLifecycle
import Settings
import Takes
import Upload

/// The outbox: a sender for each store, and what they share.
struct Outbox: Sendable {
    /// What has to run.
    let services: [any Service]
    /// Answers what peers ask.
    let requests: OutboxRequests
    private let senders: [Sender]
    private let keepers: [Keeper]

    init(_ settings: Settings, _ stores: Stores, _ catalogs: CatalogSlot, reader: DiskReader, log: Logger) throws {
        let recorder = try RecorderLink(path: settings.control.socket, log: log)
        let mark = PauseMark(in: settings.library.directory)
        let board = OutboxBoard { recorder.show($0) }
        board.isPaused = mark.isSet
        for (name, error) in stores.problems {
            log.error("\(error): its takes wait")
            board.update(name) { $0.condition = .waiting(error, until: .now + .seconds(365 * 86400)) }
        }
        let limit = settings.outbox.limitKbitPerSecond
        let throttle = limit > 0 ? Throttle(kilobitsPerSecond: limit) : nil
        // Where takes are recorded on the stick, a person gives it back.
        let eject = settings.takes.stick == .none ? "\(Self.runtimeDirectory(settings))/eject" : nil
        let senders = try stores.all.map { entry in
            try Sender(
                entry, catalogs, board: board, window: settings.outbox.window, reader: reader, throttle: throttle,
                recorder: recorder, eject: eject, log: log)
        }
        self.senders = senders
        let post: @Sendable (Sender.Event) -> Void = { event in for sender in senders { sender.post(event) } }
        requests = OutboxRequests(board: board, post: post, mark: mark)
        var services: [any Service] = [recorder]
        services += senders as [any Service]
        if settings.outbox.keepLocal != .always {
            let keeper = try Keeper(settings.outbox.keepLocal, catalogs, recorder: recorder, log: log)
            services.append(keeper)
            keepers = [keeper]
        } else {
            keepers = []
        }
        self.services = services
    }

    /// Passes on what happens outside. May be called by any thread.
    func post(_ event: Sender.Event) {
        for sender in senders { sender.post(event) }
        for keeper in keepers { keeper.look() }
    }

    /// The folder of the library's socket.
    private static func runtimeDirectory(_ settings: Settings) -> String {
        let parts = settings.library.socket.split(separator: "/").dropLast()
        return "/" + parts.joined(separator: "/")
    }
}
