import Takes
import Testing

@testable import Commands

/// Days, times and durations as a person types them.
@Suite struct TypedValuesTests {
    /// A Monday.
    private let now = WallTime(iso8601: "2026-11-30T13:38:37.500000Z")

    @Test(arguments: [
        ("today", "2026-11-30"), ("yesterday", "2026-11-29"), ("monday", "2026-11-30"), ("Tuesday", "2026-11-24"),
        ("wednesday", "2026-11-25"), ("thursday", "2026-11-26"), ("friday", "2026-11-27"), ("SATURDAY", "2026-11-28"),
        ("sunday", "2026-11-29"), ("2026-11-21", "2026-11-21"),
    ])
    func `a day is its first moment in UTC, and a weekday one of the last seven days`(text: String, day: String) throws
    {
        let now = try #require(now)
        #expect(try WallTime(typedDay: text, for: "x", now: now) == WallTime(iso8601: "\(day)T00:00:00.000000Z"))
    }

    @Test func `a day's name also works before 1970, and a time keeps its zone`() throws {
        let early = try #require(WallTime(iso8601: "1969-12-28T23:00:00.000000Z"))
        #expect(try WallTime(typedDay: "yesterday", for: "x", now: early).date == "1969-12-27")
        // That day was a Sunday.
        #expect(try WallTime(typedDay: "sunday", for: "x", now: early).date == "1969-12-28")
        #expect(try WallTime(typedDay: "monday", for: "x", now: early).date == "1969-12-22")
        #expect(
            try WallTime(typedDay: "2026-11-21T07:18:11+01:00", for: "x", now: early)
                == WallTime(iso8601: "2026-11-21T06:18:11.000000Z"))
    }

    @Test(arguments: ["", "soon", "mon", "to day", "yesterday ", "2026-1-1", "tomorrow"])
    func `another text is not a day`(text: String) throws {
        let now = try #require(now)
        #expect(
            throws: Failure(
                exitStatus: 64,
                "fieldfare x: found \(text), allowed is a day such as 2026-11-21, today, yesterday or monday, or a date "
                    + "and time such as 2026-11-21T06:18:11Z")
        ) { try WallTime(typedDay: text, for: "x", now: now) }
    }

    @Test func `a day that does not exist is bad data`() throws {
        let now = try #require(now)
        #expect(throws: Failure(exitStatus: 65, "fieldfare x: 2026-02-30T00:00Z: no such day or time of day")) {
            try WallTime(typedDay: "2026-02-30", for: "x", now: now)
        }
    }

    @Test(
        arguments: [
            ("90", 90), ("1.5", 1.5), ("0", 0), ("-5", -5), ("\u{2212}5", -5), ("1m", 60), ("1m30s", 90), ("2h", 7200),
            ("1.5h", 5400), ("1h1s", 3601), ("1h2m3.5s", 3723.5), ("90s", 90), ("-1m30s", -90), ("0m", 0), ("+5", 5),
        ] as [(String, Double)])
    func `a duration is seconds, or hours, minutes and seconds`(text: String, seconds: Double) throws {
        #expect(try Seconds(typed: text) == Seconds(seconds))
    }

    @Test(arguments: [
        "", "-", "m", "1m30", "30s1m", "1m1m", "1d", "1 m", "1M", "nan", "-inf", "1e999h", "--5", "1m-30s",
    ])
    func `another text is not a duration`(text: String) {
        #expect(throws: (any Error).self) { try Seconds(typed: text) }
    }
}
