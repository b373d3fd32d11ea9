import Catalog
import Takes
import Transport
import Upload

/// The present state of the outbox. Thread-safe.
final class OutboxBoard: Sendable {
    private let state = Locked(State())
    private let changed: @Sendable (UploadState) -> Void

    private struct State {
        var stores: [String: StoreStanding] = [:]
        var isPaused = false
    }

    struct StoreStanding: Sendable {
        var condition = Condition.ready
        /// The parcels being sent.
        var sending: [ParcelID: TakeDelivery.Progress] = [:]
        /// Whether takes wait for this store.
        var hasWaiting = false
    }

    /// Whether takes can be sent to a store.
    enum Condition: Sendable {
        case ready
        /// Nothing is sent before `until`, because of the error.
        case waiting(StoreError, until: Instant)
        /// Nothing is sent until the settings are corrected.
        case unusable(StoreError)
        /// Outside the hours in the settings.
        case closed(until: WallTime)
        /// The stick has everything and can be removed.
        case mayBePulled
        /// The inserted stick is not adopted. A person may adopt it.
        case stickOffered(StoreError)
    }

    /// - Parameter changed: called on any thread with the state of the upload lamp after each change.
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

    /// The state of the upload lamp.
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
