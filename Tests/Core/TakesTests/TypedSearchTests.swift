import Takes
import Testing

struct TypedSearchTests {
    @Test(
        arguments: [
            ("1055", .number(1055)), (" 0042 ", .number(42)), ("#7", .number(7)), ("0", .words("0")),
            ("9999999999999", .words("9999999999999")), ("12 34", .words("12 34")), ("wren 7", .words("wren 7")),
            ("", .words("")), ("mar", .words("mar")), ("Today", .day(.ago(days: 0))), ("heute", .day(.ago(days: 0))),
            ("오늘", .day(.ago(days: 0))), ("yesterday", .day(.ago(days: 1))), ("Gestern", .day(.ago(days: 1))),
            ("어제", .day(.ago(days: 1))), ("today wren", .words("today wren")),
        ] as [(String, TypedSearch)])
    func `numbers and days are told from words`(text: String, found: TypedSearch) {
        #expect(TypedSearch(text) == found)
    }

    @Test(arguments: [
        "27 Nov", "27. Nov.", "27 november", "Nov 27", "27.11.", "27.11", "27. 11.", "11월 27일", "11월27일", "27 NOV",
    ])
    func `a date without a year is read in three languages`(text: String) {
        #expect(TypedSearch(text) == .day(.date(year: nil, month: 11, day: 27)))
    }

    @Test(arguments: [
        "2026-11-27", "2026/11/27", "2026. 11. 27.", "27 Nov 2026", "Nov 27, 2026", "27.11.2026", "27.11.26",
        "27. November 2026", "2026년 11월 27일",
    ])
    func `a date with its year is read in three languages`(text: String) {
        #expect(TypedSearch(text) == .day(.date(year: 2026, month: 11, day: 27)))
    }

    @Test(arguments: [
        ("1 Mrz", 3), ("1. März", 3), ("1 Mär", 3), ("1 Mar", 3), ("May 1", 5), ("1. Mai", 5), ("1 Okt", 10),
        ("1 Oct", 10),
        ("1 Dez", 12), ("Dec 1", 12), ("1 Sept", 9), ("1. Jänner", 1),
    ]) func `months have their names of both languages, or at least three letters of them`(text: String, month: Int) {
        #expect(TypedSearch(text) == .day(.date(year: nil, month: month, day: 1)))
    }

    @Test(arguments: ["31 Feb", "0.1.", "27.13.", "2026-02-29", "2026-11", "1.2.3.4", "27 Novx", "Ma 1", "27.11.026"])
    func `a date that does not exist is words`(text: String) {
        #expect(TypedSearch(text) == .words(text))
    }

    @Test(
        arguments: [
            (.ago(days: 1), "2026-02-28"), (.date(year: nil, month: 3, day: 1), "2026-03-01"),
            (.date(year: nil, month: 3, day: 2), "2025-03-02"), (.date(year: nil, month: 2, day: 29), "2024-02-29"),
            (.date(year: 2027, month: 3, day: 2), "2027-03-02"), (.date(year: 2026, month: 2, day: 29), nil),
        ] as [(TypedSearch.TypedDay, String?)])
    func `a date without a year is the last one that is not in the future`(typed: TypedSearch.TypedDay, day: String?)
        throws
    {
        let today = try #require(CalendarDay("2026-03-01"))
        #expect(typed.resolved(today: today)?.description == day)
    }
}
