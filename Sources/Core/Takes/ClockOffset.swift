/// How far the calendar is ahead of `CLOCK_MONOTONIC`.
///
/// The kernel runs both at the same speed, also while it slews them (`clock_gettime(2)`, `adjtimex(2)`). So the offset
/// changes only when the date is set, and while the machine sleeps, which stops `CLOCK_MONOTONIC`. A correction by
/// slewing does not change it. Time services step a clock that is off by more than half a second.
public struct ClockOffset: Hashable, Sendable {
    public var microseconds: Int64

    public init(microseconds: Int64) {
        self.microseconds = microseconds
    }

    /// The offset between two clocks that were read at the same moment.
    public init(_ wallTime: WallTime, at instant: Instant) {
        microseconds = wallTime.microseconds - instant.nanoseconds / 1000
    }

    /// The date and time at an instant, by a calendar with this offset at that instant.
    public func wallTime(at instant: Instant) -> WallTime {
        WallTime(microseconds: instant.nanoseconds / 1000 + microseconds)
    }

    /// How far the calendar was set forward since it stood at `earlier`; negative if it was set back.
    public func step(since earlier: ClockOffset) -> Duration {
        .microseconds(microseconds) - .microseconds(earlier.microseconds)
    }

    /// The absolute difference of the two offsets.
    public func distance(to other: ClockOffset) -> Duration {
        let step = step(since: other)
        return step < .zero ? .zero - step : step
    }
}

extension Clock {
    /// The offset now. Two clocks cannot be read at the same moment, so this reads them up to five times and uses the
    /// reading that took the least time.
    public func offset() -> ClockOffset {
        var best = Duration.seconds(Int64.max)
        var offset = ClockOffset(microseconds: 0)
        for _ in 0..<5 where best > Duration.microseconds(200) {
            let before = now()
            let wallTime = wallTime()
            let passed = now() - before
            if passed < best {
                best = passed
                offset = ClockOffset(wallTime, at: before + passed / 2)
            }
        }
        return offset
    }
}
