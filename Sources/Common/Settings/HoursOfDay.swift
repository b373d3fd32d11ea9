public import Takes

/// Hours of the day, in local time. The end is exclusive, and is after midnight if it is the earlier time.
public struct HoursOfDay: Hashable, Sendable {
    /// The first minute of the day inside, 0 to 1439.
    public let from: Int
    /// The first minute outside; never equal to `from`.
    public let until: Int

    /// Reads `22:00-06:00`, or returns nil for anything else and for two equal times. A day ends at `24:00` or `00:00`.
    public init?(_ text: String) {
        let times = text.utf8.split(separator: UInt8(ascii: "-"), omittingEmptySubsequences: false)
        guard times.count == 2, let from = Self.minuteOfDay(times[0]),
            let until = times[1].elementsEqual("24:00".utf8) ? 0 : Self.minuteOfDay(times[1]), from != until
        else { return nil }
        (self.from, self.until) = (from, until)
    }

    public func contains(minuteOfDay minute: Int) -> Bool {
        from < until ? from <= minute && minute < until : from <= minute || minute < until
    }

    /// The hours of one day as instants, or nil if a clock change skips them.
    /// - Parameter days: offset from `day`. Hours after midnight belong to the day on which they begin.
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
