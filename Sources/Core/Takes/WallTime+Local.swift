import Glibc

extension WallTime {
    /// The time of day in the local time zone, `06:18`.
    public var localTimeOfDay: String {
        let fields = localFields
        return "\(padded(Int(fields.tm_hour), 2)):\(padded(Int(fields.tm_min), 2))"
    }

    /// The time of day with seconds, `06:18:11`.
    var localTimeOfDayInSeconds: String { "\(localTimeOfDay):\(padded(Int(localFields.tm_sec), 2))" }

    /// The day in the local time zone, `2026-11-21`.
    public var localDate: String {
        let fields = localFields
        return [(fields.tm_year + 1900, 4), (fields.tm_mon + 1, 2), (fields.tm_mday, 2)]
            .map { padded(Int($0), $1) }.joined(separator: "-")
    }

    /// The later one of the UTC day and the local day, since takes may be named by either.
    public var latestDate: String { max(date, localDate) }

    private var localFields: tm {
        var seconds = time_t(microseconds / 1_000_000)
        var fields = tm()
        localtime_r(&seconds, &fields)
        return fields
    }
}
