/// A point in time on `CLOCK_MONOTONIC`, the clock of ALSA's and the kernel's GPIO timestamps.
///
/// It counts from boot, stands still while the machine sleeps, and does not jump when the date is set.
public struct Instant: Comparable, Hashable, Sendable {
    /// Nanoseconds since an arbitrary point, usually boot.
    public var nanoseconds: Int64

    public init(nanoseconds: Int64) {
        self.nanoseconds = nanoseconds
    }

    public static func < (left: Instant, right: Instant) -> Bool {
        left.nanoseconds < right.nanoseconds
    }

    public static func + (instant: Instant, duration: Duration) -> Instant {
        Instant(nanoseconds: instant.nanoseconds + duration.nanoseconds)
    }

    public static func - (instant: Instant, duration: Duration) -> Instant {
        Instant(nanoseconds: instant.nanoseconds - duration.nanoseconds)
    }

    /// The time from `earlier` to `later`; negative if `later` comes first.
    public static func - (later: Instant, earlier: Instant) -> Duration {
        .nanoseconds(later.nanoseconds - earlier.nanoseconds)
    }
}

extension Duration {
    /// The whole duration in nanoseconds, rounded toward zero.
    public var nanoseconds: Int64 {
        let (seconds, attoseconds) = components
        return seconds * 1_000_000_000 + attoseconds / 1_000_000_000
    }

    public var inSeconds: Double {
        let (seconds, attoseconds) = components
        return Double(seconds) + Double(attoseconds) * 1e-18
    }
}
