/// A day of the Gregorian calendar, in any time zone.
public struct CalendarDay: Hashable, Comparable, Sendable {
    /// Days since 1970-01-01.
    public let number: Int

    public init(number: Int) { self.number = number }

    /// A day by its date, or nil if there is no such day.
    public init?(year: Int, month: Int, day: Int) {
        guard (1...9999).contains(year), (1...12).contains(month), (1...31).contains(day) else { return nil }
        number = Self.number(year, month, day)
        guard fields == (year, month, day) else { return nil }
    }

    /// Reads `2026-11-27`.
    public init?(_ text: String) {
        let bytes = Array(text.utf8)
        guard bytes.count == 10,
            bytes.enumerated().allSatisfy({ $0 == 4 || $0 == 7 ? $1 == .dash : $1.isDigit })
        else { return nil }
        func value(_ range: Range<Int>) -> Int { bytes[range].reduce(0) { $0 * 10 + Int($1) - 0x30 } }
        self.init(year: value(0..<4), month: value(5..<7), day: value(8..<10))
    }

    public var year: Int { fields.year }
    public var month: Int { fields.month }

    /// 0 for Sunday to 6 for Saturday.
    var weekday: Int { ((number + 4) % 7 + 7) % 7 }

    public static func < (left: CalendarDay, right: CalendarDay) -> Bool { left.number < right.number }

    public static func + (day: CalendarDay, days: Int) -> CalendarDay { CalendarDay(number: day.number + days) }

    /// Counts years from March, so that a leap day is the last day of its year. 146 097 days are 400 years.
    private static func number(_ year: Int, _ month: Int, _ day: Int) -> Int {
        let years = month > 2 ? year : year - 1
        let era = (years >= 0 ? years : years - 399) / 400
        let yearOfEra = years - era * 400
        let dayOfYear = (153 * ((month + 9) % 12) + 2) / 5 + day - 1
        return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
    }

    private var fields: (year: Int, month: Int, day: Int) {
        let days = number + 719_468
        let era = (days >= 0 ? days : days - 146_096) / 146_097
        let dayOfEra = days - era * 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let shifted = (5 * dayOfYear + 2) / 153
        let month = shifted < 10 ? shifted + 3 : shifted - 9
        return (yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, dayOfYear - (153 * shifted + 2) / 5 + 1)
    }
}

extension CalendarDay: CustomStringConvertible {
    /// `2026-11-27`.
    public var description: String {
        let (year, month, day) = fields
        return "\(padded(year, 4))-\(padded(month, 2))-\(padded(day, 2))"
    }
}
