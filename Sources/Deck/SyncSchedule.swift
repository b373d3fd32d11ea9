import Takes

/// When the next sync of a take is due, so that at most a given time of sound is not on disk while the storage answers
/// within 0.1 s.
///
/// The oldest frame that a sync does not cover is as old as one period (it came just after the card was read), plus
/// what the writer stays behind and wakes late, plus the time between two syncs, plus the next sync's own time.
struct SyncSchedule {
    /// From the start of one sync to the start of the next.
    let interval: Duration
    /// The most sound that is not on disk while the storage answers.
    let kept: Duration
    private var last: Instant

    /// How long a storage that answers takes to sync one file.
    static let answer = Duration.milliseconds(100)
    /// How late a busy machine wakes the writer.
    static let delay = Duration.milliseconds(100)
    /// Syncs more often than this would only wear the storage out.
    static let shortest = Duration.milliseconds(100)

    /// - Parameter files: audio files that are written at the same time.
    init(promise: Duration, period: Duration, lag: Duration, files: Int, start: Instant) {
        let rest = period + lag + Self.delay + Self.answer * files
        interval = max(Self.shortest, promise - rest)
        kept = interval + rest
        last = start
    }

    var next: Instant { last + interval }

    func isDue(at now: Instant) -> Bool { now >= next }

    /// The next one is due now.
    mutating func hurry(_ now: Instant) { last = now - interval }

    mutating func started(at now: Instant) { last = now }
}
