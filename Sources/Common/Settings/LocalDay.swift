import Glibc
public import Takes

/// A day in the local time zone.
public struct LocalDay: Sendable {
    private let year: Int32
    private let month: Int32
    private let day: Int32

    /// The day of a time.
    public init(of time: WallTime) {
        var seconds = time_t(time.microseconds / 1_000_000)
        var fields = unsafe tm()
        unsafe localtime_r(&seconds, &fields)
        unsafe (year, month, day) = (fields.tm_year, fields.tm_mon, fields.tm_mday)
    }

    /// A minute of a day. For a minute that a clock change skips, the result is the instant of the change.
    /// - Parameter days: offset from this day.
    public func instant(days: Int, minute: Int) -> WallTime {
        var fields = unsafe tm()
        unsafe (fields.tm_year, fields.tm_mon, fields.tm_mday) = (year, month, day + Int32(days))
        unsafe (fields.tm_hour, fields.tm_min) = (Int32(minute / 60), Int32(minute % 60))
        unsafe fields.tm_isdst = -1
        let seconds = unsafe mktime(&fields)
        let isThere = unsafe Int(fields.tm_hour) * 60 + Int(fields.tm_min) == minute % (24 * 60)
        return WallTime(microseconds: Int64(isThere ? seconds : Self.change(near: seconds)) * 1_000_000)
    }

    /// The second at which the UTC offset changes, searched within a few hours around a time.
    private static func change(near seconds: time_t) -> time_t {
        func offset(_ seconds: time_t) -> Int {
            var (seconds, fields) = unsafe (seconds, tm())
            unsafe localtime_r(&seconds, &fields)
            return unsafe fields.tm_gmtoff
        }
        var (before, from) = (seconds - 3 * 3600, seconds + 3 * 3600)
        let former = offset(before)
        while from - before > 1 {
            let middle = before + (from - before) / 2
            if offset(middle) == former { before = middle } else { from = middle }
        }
        return from
    }
}
