/// A point in time on `CLOCK_MONOTONIC`, the clock that ALSA's and the kernel's GPIO timestamps use.
///
/// It counts from boot, stands still while the machine sleeps, and never jumps when the date is set.
public struct Instant: Comparable, Hashable, Sendable {
    /// Nanoseconds since an arbitrary point, usually boot.
    public var nanoseconds: Int64

    /// The instant `nanoseconds` after the clock's zero.
    public init(nanoseconds: Int64) {
        self.nanoseconds = nanoseconds
    }

    /// Earlier than.
    public static func < (left: Instant, right: Instant) -> Bool {
        left.nanoseconds < right.nanoseconds
    }

    /// The instant `duration` later.
    public static func + (instant: Instant, duration: Duration) -> Instant {
        Instant(nanoseconds: instant.nanoseconds + duration.nanoseconds)
    }

    /// The instant `duration` earlier.
    public static func - (instant: Instant, duration: Duration) -> Instant {
        Instant(nanoseconds: instant.nanoseconds - duration.nanoseconds)
    }

    /// How long after `earlier` this instant is; negative if it is before.
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

    /// The whole duration in seconds.
    public var inSeconds: Double {
        let (seconds, attoseconds) = components
        return Double(seconds) + Double(attoseconds) * 1e-18
    }
}
