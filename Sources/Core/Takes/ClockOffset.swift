/// How far the calendar is ahead of `CLOCK_MONOTONIC`.
///
/// The kernel lets both run at the same speed, also while it slews them (`clock_gettime(2)`, `adjtimex(2)`), so that this
/// changes when the date is set and at no other time, however long that is; and when the machine sleeps, which stops
/// `CLOCK_MONOTONIC`. What a slew corrects is not seen: services step what is off by more than half a second.
public struct ClockOffset: Hashable, Sendable {
    /// Microseconds.
    public var microseconds: Int64

    /// A calendar that is so many microseconds ahead.
    public init(microseconds: Int64) {
        self.microseconds = microseconds
    }

    /// Of two clocks that were read at once.
    public init(_ wallTime: WallTime, at instant: Instant) {
        microseconds = wallTime.microseconds - instant.nanoseconds / 1000
    }

    /// The date and time at an instant, by a calendar that was never set before or since.
    public func wallTime(at instant: Instant) -> WallTime {
        WallTime(microseconds: instant.nanoseconds / 1000 + microseconds)
    }

    /// How much the calendar was set forward since it was `earlier`; negative: back.
    public func step(since earlier: ClockOffset) -> Duration {
        .microseconds(microseconds) - .microseconds(earlier.microseconds)
    }

    /// How far the two are apart, whichever is ahead.
    public func distance(to other: ClockOffset) -> Duration {
        let step = step(since: other)
        return step < .zero ? .zero - step : step
    }
}

extension Clock {
    /// How far the calendar is ahead now.
    ///
    /// Two clocks cannot be read at once: of some tries, that counts in which the least time passed.
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
