import Takes

/// Decides when the service manager's watchdog is fed: while the loop turns, which calls this, and the card delivers frames or is
/// closed on purpose.
struct WatchdogFeed {
    /// How often it is fed: half of the time that the manager waits.
    let interval: Duration
    private var next: Instant
    private var fedPosition: Int64?

    /// Feeds from `start` on.
    init(interval: Duration, start: Instant) {
        self.interval = interval
        next = start
    }

    /// Whether it is to be fed now.
    /// - Parameter position: how many frames the card has delivered; nil while it is closed on purpose.
    func isDue(at now: Instant, position: Int64?) -> Bool {
        now >= next && (position == nil || position != fedPosition)
    }

    /// It was fed.
    mutating func fed(at now: Instant, position: Int64?) {
        next = now + interval
        fedPosition = position
    }

    /// When it may be due next; nil: it is overdue because the card does not deliver, and waiting does not help.
    func deadline(after now: Instant) -> Instant? {
        next > now ? next : nil
    }
}
