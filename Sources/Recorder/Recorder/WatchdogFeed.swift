import Takes

/// Decides when the service manager's watchdog is fed: while the loop, which calls this, turns, and the card delivers
/// frames or is closed on purpose.
struct WatchdogFeed {
    /// Half of the time that the manager waits.
    let interval: Duration
    private var next: Instant
    private var fedPosition: Int64?

    init(interval: Duration, start: Instant) {
        self.interval = interval
        next = start
    }

    /// Whether the watchdog is due.
    /// - Parameter position: the number of frames that the card has delivered; nil while it is closed on purpose.
    func isDue(at now: Instant, position: Int64?) -> Bool {
        now >= next && (position == nil || position != fedPosition)
    }

    mutating func fed(at now: Instant, position: Int64?) {
        next = now + interval
        fedPosition = position
    }

    /// When the feed may be due next. Nil if it is overdue because the card does not deliver, since waiting does not
    /// help.
    func deadline(after now: Instant) -> Instant? {
        next > now ? next : nil
    }
}
