import Glibc

/// A date and time in UTC, to the microsecond.
public struct WallTime: Comparable, Hashable, Sendable {
    /// Microseconds since 1970-01-01T00:00:00Z, without leap seconds (POSIX time).
    public var microseconds: Int64

    public init(microseconds: Int64) {
        self.microseconds = microseconds
    }

    /// Reads exactly the form that `iso8601` writes: `2026-11-21T06:18:11.250000Z`.
    public init?(iso8601 text: String) {
        let bytes = Array(text.utf8)
        let pattern = Array("0000-00-00T00:00:00.000000Z".utf8)
        guard bytes.count == pattern.count,
            zip(bytes, pattern).allSatisfy({ (byte: UInt8, like: UInt8) in
                like == 0x30 ? (0x30...0x39).contains(byte) : byte == like
            })
        else { return nil }
        func number(_ range: Range<Int>) -> Int64 {
            bytes[range].reduce(0) { $0 * 10 + Int64($1 - 0x30) }
        }
        var fields = tm()
        fields.tm_year = Int32(number(0..<4)) - 1900
        fields.tm_mon = Int32(number(5..<7)) - 1
        fields.tm_mday = Int32(number(8..<10))
        fields.tm_hour = Int32(number(11..<13))
        fields.tm_min = Int32(number(14..<16))
        fields.tm_sec = Int32(number(17..<19))
        microseconds = Int64(timegm(&fields)) * 1_000_000 + number(20..<26)
        // timegm accepts a thirteenth month and carries it over. Such a text is not a date.
        guard iso8601 == text else { return nil }
    }

    public static func < (left: WallTime, right: WallTime) -> Bool {
        left.microseconds < right.microseconds
    }

    public static func + (time: WallTime, duration: Duration) -> WallTime {
        WallTime(microseconds: time.microseconds + duration.nanoseconds / 1000)
    }

    public static func - (time: WallTime, duration: Duration) -> WallTime {
        WallTime(microseconds: time.microseconds - duration.nanoseconds / 1000)
    }

    public static func - (later: WallTime, earlier: WallTime) -> Duration {
        .microseconds(later.microseconds - earlier.microseconds)
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

/// Writes `number` in decimal with leading zeros, with at least `width` digits.
func padded(_ number: Int, _ width: Int) -> String {
    let digits = String(number)
    return String(repeating: "0", count: max(0, width - digits.count)) + digits
}
