package import Takes

/// When the next sync of a take is due: as late as possible, but so that at most a given time of sound is not on disk while the
/// storage answers within 0.1 s.
///
/// Counted is from when the oldest frame that no sync covers was sampled. The next sync must have ended by then and the promise:
/// it starts earlier by its own time, and by how late a busy machine wakes the writer. How old that frame is when a sync
/// starts depends on how far the writer stays behind (`lag`) and on how long ago the card was read (up to a period): the longer
/// of the two counts, since the writer waits for no frame that is older than the lag.
package struct SyncSchedule: Sendable {
    private let promise: Duration
    /// How much earlier than the promise asks a sync starts.
    private let ahead: Duration
    /// Until the start of the next sync at the least, counted from the start of one.
    package let interval: Duration
    /// The most sound that is not on disk while the storage answers.
    package let kept: Duration
    private var due: Instant

    /// How long a storage that answers takes to sync one file.
    static let answer = Duration.milliseconds(100)
    /// How late a busy machine wakes the writer.
    static let delay = Duration.milliseconds(50)
    /// Syncs more often than this would only wear the storage out.
    static let shortest = Duration.milliseconds(100)

    /// - Parameters:
    ///   - period: from one delivery of the card to the next.
    ///   - lag: how far the writer stays behind now.
    ///   - files: audio files that are written at the same time.
    package init(promise: Duration, period: Duration, lag: Duration, files: Int, start: Instant) {
        self.promise = promise
        ahead = Self.delay + Self.answer * files
        let rest = max(period, lag) + ahead
        interval = max(Self.shortest, promise - rest)
        kept = interval + rest
        due = start + interval
    }

    /// When the next sync is due.
    package var next: Instant { due }

    func isDue(at now: Instant) -> Bool { now >= due }

    /// The next one is due now.
    mutating func hurry(_ now: Instant) { due = now }

    /// A sync was started.
    /// - Parameter unsyncedSince: when the first frame was sampled that it does not cover; nil: it is not known.
    mutating func started(at now: Instant, unsyncedSince: Instant?) {
        due = max(now + Self.shortest, unsyncedSince.map { $0 + promise - ahead } ?? now + interval)
    }
}
