import Catalog
import Control
import Takes
import Upload

struct OutboxRequests: Sendable {
    let board: OutboxBoard
    /// Passes a person's request on to the senders.
    let post: @Sendable (SendingState.News) -> Void
    /// Whether the outbox is paused; survives a restart.
    let mark: PauseMark
    var clock: any Clock = SystemClock()

    func report(_ catalog: Catalog, limit: Int) throws -> OutboxReport {
        let standings = board.stores
        var takes: [OutboxReport.Take] = []
        var stores: [OutboxReport.Store] = []
        let entries = try catalog.outbox(limit: limit)
        for name in catalog.stores {
            let standing = standings[name] ?? .init()
            stores.append(store(name, standing, try catalog.outboxCounts(of: name)))
            for (parcel, progress) in standing.sending.sorted(by: { $0.key.stem < $1.key.stem }) {
                takes.append(Self.sending(parcel.stem, name, progress))
            }
            for entry in entries where entry.store == name && standing.sending[entry.id] == nil {
                takes.append(
                    .init(
                        take: entry.id.stem, store: name, state: entry.state == .held ? .held : .waiting,
                        bytes: entry.byteCount, sentBytes: nil, why: entry.why, until: entry.until?.iso8601))
            }
        }
        return OutboxReport(paused: board.isPaused, stores: stores, takes: Array(takes.prefix(limit)))
    }

    private static func sending(_ stem: String, _ store: String, _ progress: TakeDelivery.Progress) -> OutboxReport.Take
    {
        switch progress {
        case .sending(let sent, let all):
            .init(take: stem, store: store, state: .sending, bytes: all, sentBytes: sent, why: nil, until: nil)
        case .verifying(let sent, let all):
            .init(take: stem, store: store, state: .verifying, bytes: all, sentBytes: sent, why: nil, until: nil)
        }
    }

    private func store(
        _ name: String, _ standing: OutboxBoard.StoreStanding, _ counts: OutboxCounts
    ) -> OutboxReport.Store {
        var state = OutboxReport.Store.State.ready
        var why: String?
        var until: WallTime?
        let ofError = { (error: StoreError) -> OutboxReport.Store.State in
            error.problem == .refused || error.problem == .full ? .refused : .waiting
        }
        switch standing.condition {
        case .ready: break
        case .waiting(let error, let end):
            (state, why, until) = (ofError(error), error.sentence, clock.wallTime() + (end - clock.now()))
        case .unusable(let error): (state, why) = (ofError(error), error.sentence)
        case .closed(let opening): (state, until) = (.closed, opening)
        case .mayBePulled: state = .mayBePulled
        case .stickOffered(let error): (state, why) = (.stickOffered, error.sentence)
        }
        return .init(
            store: name, state: state, why: why, until: until?.iso8601, waiting: counts.waiting,
            waitingBytes: counts.waitingBytes, elsewhere: counts.elsewhere, held: counts.held, done: counts.done,
            unverified: counts.unverified > 0 ? counts.unverified : nil, whyUnverified: counts.whyUnverified)
    }

    /// Carries out a request that concerns the whole outbox.
    func carryOut(_ wish: OutboxWish, _ catalog: Catalog) throws {
        switch wish {
        case .retry:
            try catalog.retryUploads()
            post(.retry)
        case .pause, .resume:
            try mark.set(wish == .pause)
            board.isPaused = wish == .pause
            post(wish == .pause ? .takes : .retry)
        }
    }

    /// Carries out a request that concerns one take.
    func carryOut(_ decision: OutboxDecision, of take: TakeIdentity, _ catalog: Catalog) throws -> CatalogedTake {
        let changed = try catalog.note(take, failures: decision == .add ? .forgotten : .kept) { notes in
            switch decision {
            case .add:
                notes.upload = nil
                // The take is sent again. The store's copies are recognised by their hash.
                for index in notes.receipts.indices {
                    // If the store does not show its files (`unverified`), it cannot be checked, and would treat the
                    // copy as another take's.
                    if notes.receipts[index].unverified == nil {
                        notes.receipts[index].doubt()
                    } else {
                        notes.receipts[index].reopen()
                    }
                }
            case .remove: notes.upload = .never
            case .hold: notes.upload = .hold
            }
        }
        post(decision == .add ? .retry : .takes)
        return changed
    }
}
