import Glibc

/// The source of time. It is passed in wherever time matters, so that tests can set the time.
public protocol Clock: Sendable {
    /// The time on `CLOCK_MONOTONIC`.
    func now() -> Instant
    /// The time on `CLOCK_REALTIME`. It may jump, and has no meaning before the clock is set.
    func wallTime() -> WallTime
}

/// The kernel's clocks, read with `clock_gettime(2)`.
public struct SystemClock: Clock {
    public init() {}

    public func now() -> Instant {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return Instant(nanoseconds: Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec))
    }

    public func wallTime() -> WallTime {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return WallTime(microseconds: Int64(time.tv_sec) * 1_000_000 + Int64(time.tv_nsec) / 1000)
    }
}

/// The source of the date and time, as far as this boot knows.
public enum ClockOrigin: String, Codable, Sendable {
    /// Synchronised over a network since boot.
    case ntp
    /// Set from a battery-backed clock, to no earlier than the newest take.
    case rtc
    /// Set by a person.
    case manual
    /// The clock was not set. Dates cannot be trusted.
    case unset
}
