import Takes
import TestBench
import Testing

struct LocalZoneTests {
    private func time(_ text: String) throws -> WallTime { try WallTime(reading: text) }

    private func zone(_ footer: String, times: [Int64] = [], offsets: [Int] = [0]) throws -> LocalZone {
        LocalZone(try #require(ZoneRules(ZoneFile.bytes(times: times, offsets: offsets, footer: footer))))
    }

    private static let berlin = "CET-1CEST,M3.5.0,M10.5.0/3"

    @Test(
        arguments: [
            (berlin, "2026-03-29T00:59:59Z", 3600), (berlin, "2026-03-29T01:00:00Z", 7200),
            (berlin, "2026-10-25T00:59:59Z", 7200), (berlin, "2026-10-25T01:00:00Z", 3600),
            ("EST5EDT,M3.2.0,M11.1.0", "2026-11-01T05:59:59Z", -14_400),
            ("EST5EDT,M3.2.0,M11.1.0", "2026-11-01T06:00:00Z", -18_000),
            // The south, and a zone whose summer time is the standard one.
            ("AEST-10AEDT,M10.1.0,M4.1.0/3", "2026-01-01T00:00:00Z", 39_600),
            ("AEST-10AEDT,M10.1.0,M4.1.0/3", "2026-07-01T00:00:00Z", 36_000),
            ("IST-1GMT0,M10.5.0,M3.5.0/1", "2026-01-01T00:00:00Z", 0),
            ("IST-1GMT0,M10.5.0,M3.5.0/1", "2026-07-01T00:00:00Z", 3600),
            ("<+0545>-5:45", "2026-07-01T00:00:00Z", 20_700),
            ("<-02>2<-01>,M3.5.0/-1,M10.5.0/0", "2026-07-01T00:00Z", -3600),
            ("EET-2EEST,M3.4.4/50,M10.4.4/50", "2026-03-27T23:59:59Z", 7200),
            ("EET-2EEST,M3.4.4/50,M10.4.4/50", "2026-03-28T00:00:00Z", 10_800),
        ] as [(String, String, Int64)])
    func `the rules of the last line hold each year`(rules: String, at text: String, ahead: Int64) throws {
        #expect(try zone(rules).secondsAhead(at: time(text)) == ahead)
    }

    @Test func `the changes of the table hold before the rules, and the last offset stays without rules`() throws {
        let (first, last) = (try time("2001-01-01T00:00Z"), try time("2002-01-01T00:00Z"))
        let times = [first, last].map { $0.microseconds / 1_000_000 }
        for (footer, later) in [("UTC0", Int64(0)), ("", -7200)] {
            let zone = try zone(footer, times: times, offsets: [1000, 3600, -7200])
            #expect(zone.secondsAhead(at: first - .microseconds(1)) == 1000)
            #expect(zone.secondsAhead(at: first) == 3600)
            #expect(zone.secondsAhead(at: last - .seconds(1)) == 3600)
            #expect(zone.secondsAhead(at: last) == later)
        }
    }

    @Test(
        arguments: [
            (berlin, "2026-03-29", "2026-03-28T23:00:00Z", 23), (berlin, "2026-10-25", "2026-10-24T22:00:00Z", 25),
            (berlin, "2026-11-27", "2026-11-26T23:00:00Z", 24),
            // Midnight is skipped, or is there twice.
            ("<+02>-2<+03>,M3.5.0/0,M10.5.0/0", "2026-03-29", "2026-03-28T22:00:00Z", 23),
            ("<+02>-2<+03>,M3.5.0/0,M10.5.0/0", "2026-10-24", "2026-10-23T21:00:00Z", 25),
            ("<+02>-2<+03>,M3.5.0/0,M10.5.0/0", "2026-10-25", "2026-10-24T22:00:00Z", 24),
        ] as [(String, String, String, Int)])
    func `a day begins at midnight, or at the change that skips it`(
        rules: String, day: String, begin: String, hours: Int
    ) throws {
        let (zone, day) = (try zone(rules), try #require(CalendarDay(day)))
        let span = zone.span(of: day)
        #expect(try span.lowerBound == time(begin))
        #expect(span.upperBound - span.lowerBound == .seconds(3600 * hours))
        #expect(zone.day(of: span.lowerBound) == day && zone.day(of: span.upperBound - .microseconds(1)) == day)
        #expect(zone.day(of: span.upperBound) == day + 1)
    }

    @Test func `the changes in a stretch of time are listed to the second`() throws {
        let stretch = try time("2025-12-01T00:00Z")..<time("2027-01-01T00:00Z")
        let changes = try zone(Self.berlin).changes(in: stretch)
        #expect(
            changes.map { "\($0.from.iso8601) \($0.secondsAhead)" } == [
                "2025-12-01T00:00:00.000000Z 3600", "2026-03-29T01:00:00.000000Z 7200",
                "2026-10-25T01:00:00.000000Z 3600",
            ])
    }

    @Test func `the kit's zone is that of the process`() throws {
        let noon = try time("2026-11-27T12:00Z")
        #expect(LocalZone.kit.day(of: noon).description == noon.localDate)
    }

    @Test func `bytes that are cut or damaged are no rules`() {
        let whole = ZoneFile.bytes(times: [0, 5], offsets: [0, 3600, 7200], footer: Self.berlin)
        #expect(ZoneRules(whole) != nil)
        let end = whole.count - Self.berlin.utf8.count - 2
        for count in 0..<end { #expect(ZoneRules(Array(whole[..<count])) == nil, "\(count) bytes") }
        for index in whole.indices {
            var damaged = whole
            damaged[index] ^= 0xff
            _ = ZoneRules(damaged)?.hashValue
        }
    }
}
