import Glibc

/// A time zone: how far its clocks are ahead of UTC, at any time.
public struct LocalZone: Sendable {
    private let rules: ZoneRules?

    /// The zone of this process, which is the kit's.
    public static let kit = LocalZone(rules: nil)

    public init(_ rules: ZoneRules) { self.init(rules: rules) }

    private init(rules: ZoneRules?) { self.rules = rules }

    /// The seconds that its clocks are ahead of UTC at a time.
    public func secondsAhead(at time: WallTime) -> Int64 { secondsAhead(time.seconds) }

    /// The day of a time.
    public func day(of time: WallTime) -> CalendarDay {
        CalendarDay(number: Int((time.seconds + secondsAhead(at: time)).flooredQuotient(by: Self.day)))
    }

    /// When a day begins: at midnight, or at the change of the clocks that skips midnight.
    public func start(of day: CalendarDay) -> WallTime {
        let midnight = Int64(day.number) * Self.day
        let (before, after) = (secondsAhead(midnight - Self.day), secondsAhead(midnight + Self.day))
        for ahead in [before, after] where secondsAhead(midnight - ahead) == ahead {
            return WallTime(seconds: midnight - ahead)
        }
        return WallTime(seconds: change(after: midnight - Self.day, before: midnight + Self.day))
    }

    /// The time from a day's beginning to that of the next one: 23 to 25 hours where clocks change.
    public func span(of day: CalendarDay) -> Range<WallTime> { start(of: day)..<start(of: day + 1) }

    /// The changes of the clocks in a stretch of time, in order. The first element is for the beginning of the stretch.
    public func changes(in stretch: Range<WallTime>) -> [(from: WallTime, secondsAhead: Int64)] {
        var (time, ahead) = (stretch.lowerBound.seconds, secondsAhead(stretch.lowerBound.seconds))
        var found = [(from: stretch.lowerBound, secondsAhead: ahead)]
        while time < stretch.upperBound.seconds {
            let next = time + Self.step
            if secondsAhead(next) != ahead {
                time = change(after: time, before: next)
                ahead = secondsAhead(time)
                found.append((WallTime(seconds: time), ahead))
            } else {
                time = next
            }
        }
        return found
    }

    private static let day: Int64 = 86_400
    /// Clocks change less often than once in this time. Only a change that is undone within it would be overlooked.
    private static let step = 7 * day

    /// The first second after a change of the clocks between two times.
    private func change(after start: Int64, before end: Int64) -> Int64 {
        var (before, from) = (start, end)
        let former = secondsAhead(start)
        while from - before > 1 {
            let middle = before + (from - before) / 2
            if secondsAhead(middle) == former { before = middle } else { from = middle }
        }
        return from
    }

    private func secondsAhead(_ time: Int64) -> Int64 {
        if let rules { return rules.secondsAhead(at: time) }
        var seconds = time_t(time)
        var fields = tm()
        guard localtime_r(&seconds, &fields) != nil else { return 0 }
        return Int64(fields.tm_gmtoff)
    }
}

extension WallTime {
    /// Whole seconds since 1970, rounded down.
    fileprivate var seconds: Int64 { microseconds.flooredQuotient(by: 1_000_000) }

    fileprivate init(seconds: Int64) { self.init(microseconds: seconds * 1_000_000) }
}

extension Int64 {
    /// The quotient, rounded down. The divisor is greater than 0.
    fileprivate func flooredQuotient(by divisor: Int64) -> Int64 {
        let (quotient, remainder) = quotientAndRemainder(dividingBy: divisor)
        return remainder < 0 ? quotient - 1 : quotient
    }
}
