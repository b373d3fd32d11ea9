import Takes
import Transport

/// Whether the storage takes the sound of the take that is recorded. Pure.
struct StorageStall {
    private var state = State.nothing
    /// The last sync of the take that ended well.
    private var lastSync: Instant?

    private enum State {
        /// No sound is to be stored.
        case nothing
        /// Sound waits, and the storage took none since this instant.
        case waits(since: Instant)
    }

    /// How long the storage may take no sound before that is a fault.
    static let patience = Duration.seconds(5)
    /// How long the writer may not report before the time of the take is counted on without it.
    static let silence = Duration.seconds(2)

    /// Since when the storage took no sound; nil: none is to be stored.
    var since: Instant? {
        switch state {
        case .nothing: nil
        case .waits(let since): since
        }
    }

    /// Time goes on.
    /// - Parameters:
    ///   - hasSound: whether a take is recorded, and its card delivers.
    ///   - lastSync: when the last sync of the take ended well.
    mutating func update(hasSound: Bool, lastSync: Instant?, now: Instant) {
        guard hasSound else { return state = .nothing }
        if case .nothing = state { state = .waits(since: now) }
        if let lastSync, lastSync != self.lastSync { state = .waits(since: now) }
        self.lastSync = lastSync
    }

    /// The fault; nil: the storage takes sound.
    /// - Parameter promise: how often sound is synced.
    func fault(promise: Duration, now: Instant) -> Fault? {
        guard case .waits(let since) = state, now - since >= max(Self.patience, promise + .seconds(2)) else {
            return nil
        }
        // The same each time, so that the log does not get a line every second.
        let patience = Int(Self.patience.inSeconds)
        return Fault(
            .storageFailing,
            "record: the storage has taken no sound for \(patience) s or longer: the newest sound is kept in memory")
    }
}
