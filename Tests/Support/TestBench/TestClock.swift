public import Takes

/// A clock that moves only as a test says. Any thread may read it.
public final class TestClock: Clock {
    private struct State {
        var instant: Instant
        var offset: ClockOffset
        var readings: ArraySlice<Instant>
    }

    private let state: Locked<State>
    private let step: Duration

    /// - Parameters:
    ///   - step: how far each reading of either kind moves it. By default it stands still.
    ///   - readings: the instants of the next readings of either kind, in order. It then stays at the last one.
    public init(
        at instant: Instant = Instant(nanoseconds: 100_000_000_000),
        wallTime: WallTime = WallTime(microseconds: 1_795_241_891_000_000), step: Duration = .zero,
        readings: [Instant] = []
    ) {
        state = Locked(State(instant: instant, offset: ClockOffset(wallTime, at: instant), readings: readings[...]))
        self.step = step
    }

    public func now() -> Instant { read { $0.instant } }

    public func wallTime() -> WallTime { read { $0.offset.wallTime(at: $0.instant) } }

    private func read<Reading: Sendable>(_ reading: (State) -> Reading) -> Reading {
        state.withLock { state in
            state.instant = state.readings.popFirst() ?? state.instant
            defer { state.instant = state.instant + step }
            return reading(state)
        }
    }

    /// Moves the instant and the calendar.
    public func advance(by duration: Duration) { state.withLock { $0.instant = $0.instant + duration } }

    /// Sets the calendar; the instant stays.
    public func set(to wallTime: WallTime) {
        state.withLock { $0.offset = ClockOffset(wallTime, at: $0.instant) }
    }

    /// Sets the calendar forward, or back if `duration` is negative; the instant stays.
    public func set(by duration: Duration) {
        state.withLock { $0.offset.microseconds += duration.nanoseconds / 1000 }
    }
}
