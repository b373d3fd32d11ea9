import Glibc

/// The source of time. Passed in wherever time matters, so that tests decide what time it is.
public protocol Clock: Sendable {
    /// Now, on `CLOCK_MONOTONIC`.
    func now() -> Instant
    /// Now, by the calendar (`CLOCK_REALTIME`). It may jump, and before it is set it means nothing.
    func wallTime() -> WallTime
}

/// The kernel's clocks.
public struct SystemClock: Clock {
    /// The kernel's clocks.
    public init() {}

    /// `CLOCK_MONOTONIC`, read with `clock_gettime(2)`.
    public func now() -> Instant {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return Instant(nanoseconds: Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec))
    }

    /// `CLOCK_REALTIME`, read with `clock_gettime(2)`.
    public func wallTime() -> WallTime {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return WallTime(microseconds: Int64(time.tv_sec) * 1_000_000 + Int64(time.tv_nsec) / 1000)
    }
}

/// Where the date and time came from, as far as this boot knows.
public enum ClockOrigin: String, Codable, Sendable {
    /// Synchronised over a network in this boot.
    case ntp
    /// Set from a battery-backed clock, to no earlier than the newest take.
    case rtc
    /// Set by a person.
    case manual
    /// It was not set: dates are not to be trusted.
    case unset
}
