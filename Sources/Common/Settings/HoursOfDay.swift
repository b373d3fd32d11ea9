public import Takes

/// Hours of the day, in local time: from one minute of the day up to, and without, another; past midnight if that is the earlier one.
public struct HoursOfDay: Hashable, Sendable {
    /// The first minute of the day that is within, 0 to 1439.
    public let from: Int
    /// The first minute that is not; never `from`.
    public let until: Int

    /// Reads `22:00-06:00`; nil for anything else, and for two equal times. A day ends at `24:00`, or at `00:00`.
    public init?(_ text: String) {
        let times = text.utf8.split(separator: UInt8(ascii: "-"), omittingEmptySubsequences: false)
        guard times.count == 2, let from = Self.minuteOfDay(times[0]),
            let until = times[1].elementsEqual("24:00".utf8) ? 0 : Self.minuteOfDay(times[1]), from != until
        else { return nil }
        (self.from, self.until) = (from, until)
    }

    /// Whether a minute of the day is within them.
    public func contains(minuteOfDay minute: Int) -> Bool {
        from < until ? from <= minute && minute < until : from <= minute || minute < until
    }

    /// The hours of a day, as instants; nil: a change of the clocks leaves them out.
    /// - Parameter days: from that day on; those past midnight are of the day on which they begin.
    public func span(_ days: Int, from day: LocalDay) -> Range<WallTime>? {
        let begin = day.instant(days: days, minute: from)
        let end = day.instant(days: from < until ? days : days + 1, minute: until)
        return begin < end ? begin..<end : nil
    }

    /// Reads `HH:MM`.
    private static func minuteOfDay(_ text: Substring.UTF8View) -> Int? {
        let digits = text.map { Int($0) - 0x30 }
        guard digits.count == 5, digits[2] == 10, [0, 1, 3, 4].allSatisfy({ 0...9 ~= digits[$0] }) else { return nil }
        let (hour, minute) = (digits[0] * 10 + digits[1], digits[3] * 10 + digits[4])
        return hour < 24 && minute < 60 ? hour * 60 + minute : nil
    }
}
