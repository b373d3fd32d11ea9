import Glibc
import Settings
import Takes
import Transport

/// The hours of each day in which the kit records by itself, as instants.
struct RecordingHours {
    private let daily: [HoursOfDay]
    /// What was worked out last, and for when.
    private var known: (at: WallTime, span: Span)?

    /// From an instant up to another.
    struct Span: Equatable {
        var from: WallTime
        var until: WallTime

        func contains(_ time: WallTime) -> Bool { from <= time && time < until }

        /// As the status has it.
        var hours: Status.Hours { Status.Hours(from: from.iso8601, until: until.iso8601) }
    }

    /// After this the time zone may be another.
    private static let validity = Duration.seconds(600)

    /// - Parameter daily: in local time, in any order. Those that touch or overlap are one.
    init(_ daily: [HoursOfDay]) {
        self.daily = daily
    }

    /// The hours that a time is in, else the next ones; nil: there are none.
    mutating func span(at time: WallTime) -> Span? {
        if let known, known.at <= time, time < known.span.until, time < known.at + Self.validity { return known.span }
        known = spans(around: time).first { $0.until > time }.map { (time, $0) }
        return known?.span
    }

    /// When the first hours begin after a time; nil: there are none.
    func begin(after time: WallTime) -> WallTime? { spans(around: time).first { $0.from > time }?.from }

    /// Those from the day before to the second day after, in their order.
    private func spans(around time: WallTime) -> [Span] {
        let today = Day(of: time)
        let all = (-1...2).flatMap { day in
            daily.map { hours in
                Span(
                    from: today.instant(days: day, minute: hours.from),
                    until: today.instant(days: hours.from < hours.until ? day : day + 1, minute: hours.until))
            }
        }
        var merged: [Span] = []
        for span in all.sorted(by: { $0.from < $1.from }) where span.from < span.until {
            if let last = merged.last, span.from <= last.until {
                merged[merged.count - 1].until = max(last.until, span.until)
            } else {
                merged.append(span)
            }
        }
        return merged
    }
}

/// A local day.
private struct Day {
    private let year: Int32
    private let month: Int32
    private let day: Int32

    /// The one that a time is in.
    init(of time: WallTime) {
        var seconds = time_t(time.microseconds / 1_000_000)
        var fields = unsafe tm()
        unsafe localtime_r(&seconds, &fields)
        unsafe (year, month, day) = (fields.tm_year, fields.tm_mon, fields.tm_mday)
    }

    /// A minute of a day; one that a change of the clocks leaves out is that change.
    /// - Parameter days: from this day on.
    func instant(days: Int, minute: Int) -> WallTime {
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
