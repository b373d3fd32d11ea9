import Takes
import Transport

/// Whether the storage accepts the sound of the take in progress. Pure.
struct StorageStall {
    private var state = State.nothing
    /// The take's last successful sync.
    private var lastSync: Instant?

    private enum State {
        /// No sound needs storing.
        case nothing
        /// Sound waits, and the storage has accepted none since this instant.
        case waits(since: Instant)
    }

    /// If the storage accepts no sound for this long, that is a fault.
    static let patience = Duration.seconds(5)
    /// If the writer does not report for this long, the take's time is extrapolated.
    static let silence = Duration.seconds(2)

    /// The instant since which the storage has accepted no sound, or nil if no sound needs storing.
    var since: Instant? {
        switch state {
        case .nothing: nil
        case .waits(let since): since
        }
    }

    /// - Parameters:
    ///   - hasSound: whether a take is recorded and its card delivers.
    ///   - lastSync: the take's last successful sync.
    mutating func update(hasSound: Bool, lastSync: Instant?, now: Instant) {
        guard hasSound else { return state = .nothing }
        if case .nothing = state { state = .waits(since: now) }
        if let lastSync, lastSync != self.lastSync { state = .waits(since: now) }
        self.lastSync = lastSync
    }

    /// The fault, or nil if the storage accepts sound.
    /// - Parameter promise: the promised interval of syncs.
    func fault(promise: Duration, now: Instant) -> Fault? {
        guard case .waits(let since) = state, now - since >= max(Self.patience, promise + .seconds(2)) else {
            return nil
        }
        // The sentence stays the same, so that the log does not get a line every second.
        let patience = Int(Self.patience.inSeconds)
        return Fault(
            .storageFailing,
            "record: the storage has taken no sound for \(patience) s or longer: the newest sound is kept in memory")
    }
}
