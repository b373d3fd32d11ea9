package import Takes

/// Decides when the next sync of a take is due: as late as the promise permits. The promise is that at most a given
/// time of sound is not on disk while the storage answers within 0.1 s.
///
/// The deadline is the oldest unsynced frame's sample time plus the promise. The next sync must have ended by then, so
/// it starts earlier by its own duration and by the delay with which a busy machine wakes the writer. The age of that
/// frame when a sync starts depends on the writer's `lag` and on the time since the card was read (up to a period). The
/// longer of the two counts, since the writer does not wait for frames that are older than the lag.
package struct SyncSchedule: Sendable {
    private let promise: Duration
    /// How long before the deadline a sync starts.
    private let ahead: Duration
    /// The shortest time from the start of one sync to the start of the next.
    package let interval: Duration
    /// The most sound that is not on disk while the storage answers.
    package let kept: Duration
    private var due: Instant

    /// How long a responsive storage takes to sync one file.
    static let answer = Duration.milliseconds(100)
    /// How late a busy machine wakes the writer.
    static let delay = Duration.milliseconds(50)
    /// More frequent syncs would only wear out the storage.
    static let shortest = Duration.milliseconds(100)

    /// - Parameters:
    ///   - period: the time between two deliveries of the card.
    ///   - lag: how far the writer stays behind now.
    ///   - files: the number of audio files that are written at the same time.
    package init(promise: Duration, period: Duration, lag: Duration, files: Int, start: Instant) {
        self.promise = promise
        ahead = Self.delay + Self.answer * files
        let rest = max(period, lag) + ahead
        interval = max(Self.shortest, promise - rest)
        kept = interval + rest
        due = start + interval
    }

    package var next: Instant { due }

    func isDue(at now: Instant) -> Bool { now >= due }

    /// Makes the next sync due now.
    mutating func hurry(_ now: Instant) { due = now }

    /// - Parameter unsyncedSince: the sample time of the first frame that the sync does not cover, or nil if it is not
    ///   known.
    mutating func started(at now: Instant, unsyncedSince: Instant?) {
        due = max(now + Self.shortest, unsyncedSince.map { $0 + promise - ahead } ?? now + interval)
    }
}
