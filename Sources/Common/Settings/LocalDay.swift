import Glibc
public import Takes

/// A day of the local time zone.
public struct LocalDay: Sendable {
    private let year: Int32
    private let month: Int32
    private let day: Int32

    /// The one that a time is in.
    public init(of time: WallTime) {
        var seconds = time_t(time.microseconds / 1_000_000)
        var fields = unsafe tm()
        unsafe localtime_r(&seconds, &fields)
        unsafe (year, month, day) = (fields.tm_year, fields.tm_mon, fields.tm_mday)
    }

    /// A minute of a day; one that a change of the clocks leaves out is that change.
    /// - Parameter days: from this day on.
    public func instant(days: Int, minute: Int) -> WallTime {
        var fields = unsafe tm()
        unsafe (fields.tm_year, fields.tm_mon, fields.tm_mday) = (year, month, day + Int32(days))
        unsafe (fields.tm_hour, fields.tm_min) = (Int32(minute / 60), Int32(minute % 60))
        unsafe fields.tm_isdst = -1
        let seconds = unsafe mktime(&fields)
        let isThere = unsafe Int(fields.tm_hour) * 60 + Int(fields.tm_min) == minute % (24 * 60)
        return WallTime(microseconds: Int64(isThere ? seconds : Self.change(near: seconds)) * 1_000_000)
    }

    /// The second from which on the clocks show another time, a few hours around one.
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
