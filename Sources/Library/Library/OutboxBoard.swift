import Catalog
import Takes
import Transport
import Upload

/// How the outbox stands now, for those who ask. May be used by any thread.
final class OutboxBoard: Sendable {
    private let state = Locked(State())
    private let changed: @Sendable (UploadState) -> Void

    private struct State {
        var stores: [String: StoreStanding] = [:]
        var isPaused = false
    }

    /// How one store stands.
    struct StoreStanding: Sendable {
        var condition = Condition.ready
        /// What is being sent.
        var sending: [ParcelID: TakeDelivery.Progress] = [:]
        /// Whether takes wait for it.
        var hasWaiting = false
    }

    /// Whether a store takes takes.
    enum Condition: Sendable {
        case ready
        /// Nothing is sent before that time; why.
        case waiting(StoreError, until: ContinuousClock.Instant)
        /// Nothing is sent before the settings are corrected.
        case unusable(StoreError)
        /// Outside the hours of the settings.
        case closed(until: ContinuousClock.Instant)
        /// Everything is on the stick, and it may be pulled.
        case mayBePulled
        /// The stick that is in was not adopted, and a person may adopt it.
        case stickOffered(StoreError)
    }

    /// - Parameter changed: receives, on any thread, what the upload lamp shows after each change.
    init(changed: @escaping @Sendable (UploadState) -> Void) { self.changed = changed }

    var stores: [String: StoreStanding] { state.withLock(\.stores) }

    var isPaused: Bool {
        get { state.withLock(\.isPaused) }
        set {
            state.withLock { $0.isPaused = newValue }
            changed(uploadState)
        }
    }

    func update(_ store: String, _ change: (inout StoreStanding) -> Void) {
        state.withLock { change(&$0.stores[store, default: StoreStanding()]) }
        changed(uploadState)
    }

    /// What the upload lamp shows.
    var uploadState: UploadState {
        let state = state.withLock { $0 }
        var result = UploadState.idle
        for (_, store) in state.stores.sorted(by: { $0.key < $1.key }) {
            if !store.sending.isEmpty { return .sending }
            switch store.condition {
            case .waiting(let error, _), .unusable(let error):
                if error.problem == .refused || error.problem == .full { return .refused(message: error.sentence) }
                if store.hasWaiting, result == .idle { result = .held }
            case .mayBePulled: result = .safeToRemove
            case .stickOffered: result = .stickOffered
            case .ready, .closed: if store.hasWaiting, result == .idle { result = .held }
            }
        }
        return result
    }
}
