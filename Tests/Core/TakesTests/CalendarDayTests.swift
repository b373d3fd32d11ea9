import Takes
import Testing

struct CalendarDayTests {
    @Test(arguments: [
        (0, "1970-01-01"), (-1, "1969-12-31"), (59, "1970-03-01"), (11_016, "2000-02-29"), (11_017, "2000-03-01"),
        (20_784, "2026-11-27"), (-719_162, "0001-01-01"), (2_932_896, "9999-12-31"),
    ]) func `it is counted from 1970, written and read again`(number: Int, text: String) throws {
        #expect(CalendarDay(number: number).description == text)
        #expect(CalendarDay(text)?.number == number)
    }

    @Test func `each day follows the one before it, for two eras`() throws {
        var (day, month, year) = (1, 1, 1600)
        let first = try #require(CalendarDay(year: year, month: month, day: day))
        for count in 0..<2 * 146_097 {
            guard (first + count) == CalendarDay(year: year, month: month, day: day) else {
                Issue.record("\(year)-\(month)-\(day) is not \(first + count)")
                return
            }
            let isLeapYear = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
            let length = month == 2 ? (isLeapYear ? 29 : 28) : [4, 6, 9, 11].contains(month) ? 30 : 31
            day += 1
            if day > length { (day, month) = (1, month + 1) }
            if month > 12 { (month, year) = (1, year + 1) }
        }
    }

    @Test(arguments: ["", "2026-02-29", "2026-13-01", "2026-00-01", "2026-1-1", "20261127", "2026-11-32", "+026-11-27"])
    func `another text, or a day that does not exist, is not read`(text: String) {
        #expect(CalendarDay(text) == nil)
    }
}
