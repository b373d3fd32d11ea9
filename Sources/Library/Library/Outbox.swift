import Logging
import ServiceLifecycle
import Settings
import Takes
import Transport
import Upload

/// The outbox: one sender for each store, and the parts they share.
struct Outbox: Sendable {
    let services: [any Service]
    let requests: OutboxRequests
    private let senders: [Sender]
    private let keeper: Keeper?
    let inspector: SoundInspector

    init(
        _ settings: Settings, _ stores: Stores, _ catalogs: CatalogSlot, recorder: RecorderLink, copies: RemoteCopies,
        discards: DiscardDesk, sticks: StickDesk, spectra: SpectraDesk, reader: DiskReader, log: Logger
    ) throws {
        let mark = PauseMark(in: settings.library.directory)
        let watch = StickWatch(path: settings.control.socket) {
            Task {
                do throws(Refusal) {
                    _ = try await sticks.adopt(by: "by stop and play")
                } catch {
                    log.error("\(error.message)")
                }
            }
        }
        let board = OutboxBoard { state in
            recorder.show(state)
            watch.show(state)
        }
        let inspector = try SoundInspector(catalogs, spectra: spectra, show: { recorder.show(damage: $0) }, log: log)
        self.inspector = inspector
        board.isPaused = mark.isSet
        for (name, error) in stores.problems {
            log.error("\(error): its takes wait")
            board.update(name) { $0.condition = .unusable(error) }
        }
        let limit = settings.outbox.limitKbitPerSecond
        let throttle = limit > 0 ? Throttle(kilobitsPerSecond: limit) : nil
        let policy = settings.outbox.keepLocal
        let keeper =
            policy == .always
            ? nil
            : try Keeper(
                policy, catalogs, recorder: recorder, reader: reader, discards: discards,
                storesWithout: { try await copies.storesWithout($0, $1) },
                checkSound: { try await inspector.check($0, in: $1, .all) },
                window: RejoinWindow(settings.takes.rejoin), log: log)
        let senders = try stores.all.map { entry in
            try Sender(
                entry, catalogs, board: board, window: settings.outbox.window, reader: reader, throttle: throttle,
                sticks: sticks, isClockSet: { await recorder.isClockSet }, sent: { keeper?.look() },
                checkSound: { try await inspector.check($0, in: $1, $2) }, log: log)
        }
        self.senders = senders
        self.keeper = keeper
        catalogs.inHand.onFree { for sender in senders { sender.post(.takes) } }
        sticks.onAdopted { for sender in senders { sender.post(.surroundings) } }
        inspector.onFree { for sender in senders { sender.post(.takes) } }
        requests = OutboxRequests(
            board: board, post: { event in for sender in senders { sender.post(event) } }, mark: mark)
        var services: [any Service] = [recorder, inspector, watch]
        services += senders as [any Service]
        if let keeper { services.append(keeper) }
        self.services = services
    }

    /// Passes on an event from outside. Thread-safe.
    func post(_ event: SendingState.News) {
        for sender in senders { sender.post(event) }
        keeper?.look()
        inspector.look()
    }
}
