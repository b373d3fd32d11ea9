import Takes

/// A clock that stands still.
struct StillClock: Clock {
    func now() -> Instant { Instant(nanoseconds: 5_000_000_000) }
    func wallTime() -> WallTime { WallTime(microseconds: 0) }

    /// When an order to the recorder ends that is given now.
    var endOfOrder: Instant { now() + .seconds(60) }
}
