import Glibc
import Takes
import Testing

@testable import Settings

/// Hours of the day in a time zone. The zone belongs to the process, so these tests run one after the other.
@Suite(.serialized) struct TimeZoneTests {
    private static let berlin = "CET-1CEST,M3.5.0,M10.5.0/3"

    static let hasZones = TimeZoneFile.isThere("Europe/Berlin") && TimeZoneFile.isThere("America/Lima")

    private func time(_ text: String) throws -> WallTime { try #require(WallTime(iso8601: "\(text):00.000000Z")) }

    private func inZone<Result>(_ zone: String, _ body: () throws -> Result) rethrows -> Result {
        let before = getenv("TZ").map { String(cString: $0) }
        setenv("TZ", zone, 1)
        defer { before.map { _ = setenv("TZ", $0, 1) } ?? { _ = unsetenv("TZ") }() }
        return try body()
    }

    @Test func `by local time, the name and the folder of a take are of the kit's zone`() throws {
        let started = try #require(WallTime(iso8601: "2026-11-21T20:18:11.999999Z"))
        // Nepal is 5 h 45 min ahead.
        let (name, latest) = inZone("NPT-5:45") {
            tzset()
            return (TakeName(kit: "heron07", number: 42, started: started, nameTime: .local), started.latestDate)
        }
        tzset()
        #expect(name.stem == "heron07-0042_20261122_020311")
        #expect(name.day == "2026-11-22")
        #expect(latest == "2026-11-22")
    }

    @Test(.enabled(if: hasZones, "tzdata is missing"))
    func `a zone of the database has its offsets, whatever the zone of the process is`() throws {
        for (name, text, ahead) in [
            ("Europe/Berlin", "2026-03-29T00:59", 3600), ("Europe/Berlin", "2026-03-29T01:00", 7200),
            ("Europe/Berlin", "2045-07-01T00:00", 7200), ("America/Lima", "2026-11-27T12:00", -18_000),
        ] as [(String, String, Int64)] {
            let zone = try #require(LocalZone(named: name))
            #expect(try zone.secondsAhead(at: time(text)) == ahead, "\(name) \(text)")
        }
        for name in ["", "Europe", "Europe/Atlantis", "../../etc/passwd", "tzdata.zi", "/etc/localtime"] {
            #expect(LocalZone(named: name) == nil, "\(name)")
        }
    }

    private func opening(_ window: String, from text: String) throws -> String {
        let window = try #require(UploadWindow(window))
        return try inZone(Self.berlin) { String(window.opening(from: try time(text)).iso8601.prefix(16)) }
    }

    @Test(arguments: [
        // Inside, before, after, past midnight.
        ("03:00-05:00", "2026-11-21T03:30", "2026-11-21T03:30"),
        ("03:00-05:00", "2026-11-21T01:00", "2026-11-21T02:00"),
        ("03:00-05:00", "2026-11-21T04:00", "2026-11-22T02:00"),
        ("22:00-02:00", "2026-11-21T00:30", "2026-11-21T00:30"),
        ("22:00-02:00", "2026-11-21T01:00", "2026-11-21T21:00"), ("always", "2026-11-21T04:00", "2026-11-21T04:00"),
        // At 2 o'clock the clocks go forward to 3 o'clock.
        ("03:00-05:00", "2026-03-29T00:30", "2026-03-29T01:00"),
        ("02:30-05:00", "2026-03-29T00:30", "2026-03-29T01:00"),
        ("02:15-02:45", "2026-03-29T00:30", "2026-03-30T00:15"),
        // At 3 o'clock the clocks go back to 2 o'clock.
        ("04:00-05:00", "2026-10-25T00:30", "2026-10-25T03:00"),
        ("01:00-04:00", "2026-10-25T01:30", "2026-10-25T01:30"),
    ])
    func `takes are sent in the hours, also when the clocks change`(
        window: String, now: String, opens: String
    ) throws {
        #expect(try opening(window, from: now) == opens)
    }

    @Test func `an hour that comes twice is within or not within as a whole`() throws {
        // 02:30 to 03:30 begins only once, at the first or the second 02:30.
        let times = ["2026-10-25T00:30", "2026-10-25T01:10", "2026-10-25T01:30", "2026-10-25T02:10"]
        let open = try times.map { try opening("02:30-03:30", from: $0) == $0 }
        #expect(open == [true, true, true, true] || open == [false, false, true, true])
    }

    @Test(.enabled(if: hasZones, "tzdata is not installed"))
    func `a zone by its name, and none that this machine does not know`() throws {
        let (settings, problems) = Settings.parse("[kit]\ntime_zone = \"Europe/Berlin\"", file: "f")
        #expect(settings.kit.timeZone == "Europe/Berlin" && problems.isEmpty)
        for wrong in [
            "Europe/Berln", "../../etc/localtime", "Europe", "Europe/", "/etc/localtime", "tzdata.zi", "", ":UTC",
        ] {
            let (settings, problems) = Settings.parse("[kit]\ntime_zone = \"\(wrong)\"", file: "f")
            #expect(settings.kit.timeZone == nil)
            #expect(
                problems.map(\.description) == [
                    "f:2: kit.time_zone: found \"\(wrong)\" (a string): allowed is the name of a time zone that this machine knows, "
                        + "such as \"Europe/Berlin\""
                ])
        }
    }

    @Test(.enabled(if: hasZones, "tzdata is not installed"))
    func `the zone of the settings is the process's`() throws {
        var kit = Settings().kit
        kit.timeZone = "America/Lima"
        let hours = try #require(HoursOfDay("05:00-07:00"))
        let span = try inZone("UTC") {
            kit.useTimeZone()
            return hours.span(0, from: LocalDay(of: try time("2026-11-21T12:00")))
        }
        #expect(try span == time("2026-11-21T10:00")..<time("2026-11-21T12:00"))
    }
}
