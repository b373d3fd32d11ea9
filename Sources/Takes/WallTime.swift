import Glibc

/// A date and time in UTC, to the microsecond.
public struct WallTime: Comparable, Hashable, Sendable {
    /// Microseconds since 1970-01-01T00:00:00Z, without leap seconds (POSIX time).
    public var microseconds: Int64

    /// The time `microseconds` after 1970-01-01T00:00:00Z.
    public init(microseconds: Int64) {
        self.microseconds = microseconds
    }

    /// Earlier than.
    public static func < (left: WallTime, right: WallTime) -> Bool {
        left.microseconds < right.microseconds
    }

    /// The time `duration` later.
    public static func + (time: WallTime, duration: Duration) -> WallTime {
        WallTime(microseconds: time.microseconds + duration.nanoseconds / 1000)
    }

    /// The time `duration` earlier.
    public static func - (time: WallTime, duration: Duration) -> WallTime {
        WallTime(microseconds: time.microseconds - duration.nanoseconds / 1000)
    }

    /// `2026-11-21`.
    public var date: String {
        let fields = calendarFields
        return [(fields.tm_year + 1900, 4), (fields.tm_mon + 1, 2), (fields.tm_mday, 2)]
            .map { padded(Int($0), $1) }.joined(separator: "-")
    }

    /// `06:18:11`.
    public var timeOfDay: String {
        let fields = calendarFields
        return "\(padded(Int(fields.tm_hour), 2)):\(padded(Int(fields.tm_min), 2)):\(padded(Int(fields.tm_sec), 2))"
    }

    /// ISO 8601 with microseconds: `2026-11-21T06:18:11.250000Z`.
    public var iso8601: String {
        "\(date)T\(timeOfDay).\(padded(Int(microseconds - wholeSeconds * 1_000_000), 6))Z"
    }

    /// Microseconds since the last midnight, UTC.
    public var microsecondsOfDay: Int64 {
        let day: Int64 = 86_400_000_000
        return ((microseconds % day) + day) % day
    }

    private var wholeSeconds: Int64 {
        (microseconds - (microseconds < 0 ? 999_999 : 0)) / 1_000_000
    }

    private var calendarFields: tm {
        var seconds = time_t(wholeSeconds)
        var fields = tm()
        gmtime_r(&seconds, &fields)
        return fields
    }
}

/// `number` in decimal with leading zeros, at least `width` digits.
func padded(_ number: Int, _ width: Int) -> String {
    let digits = String(number)
    return String(repeating: "0", count: max(0, width - digits.count)) + digits
}
