import Takes

struct StillClock: Clock {
    func now() -> Instant { Instant(nanoseconds: 5_000_000_000) }
    func wallTime() -> WallTime { WallTime(microseconds: 0) }

    /// The expiry of an order that is sent to the recorder now.
    var endOfOrder: Instant { now() + .seconds(60) }
}
