import Takes
import Testing

struct WallTimeTests {
    @Test(
        arguments: [
            (0, "1970-01-01T00:00:00.000000Z"),
            (-1, "1969-12-31T23:59:59.999999Z"),
            (1_795_241_891_250_000, "2026-11-21T06:18:11.250000Z"),
            (951_782_400_000_001, "2000-02-29T00:00:00.000001Z"),
            (4_102_444_799_999_999, "2099-12-31T23:59:59.999999Z"),
            (253_402_300_799_999_999, "9999-12-31T23:59:59.999999Z"),
        ] as [(Int64, String)]) func `it is written as ISO 8601 and read again`(microseconds: Int64, text: String)
    {
        let time = WallTime(microseconds: microseconds)
        #expect(time.iso8601 == text)
        #expect(WallTime(iso8601: text) == time)
    }

    @Test(arguments: [
        "", "2026-11-21", "2026-11-21T06:18:11Z", "2026-11-21T06:18:11.250Z", "2026-11-21 06:18:11.250000Z",
        "2026-13-21T06:18:11.250000Z", "2026-02-29T06:18:11.250000Z", "2026-11-21T24:18:11.250000Z",
        "2026-11-21T06:18:60.250000Z", "2026-11-21T06:18:11.250000+", "2O26-11-21T06:18:11.250000Z",
    ]) func `another way of writing it, or no date, is not read`(text: String) {
        #expect(WallTime(iso8601: text) == nil)
    }

    @Test func `the time of day counts from midnight, before 1970 too`() {
        #expect(WallTime(microseconds: 1_795_241_891_250_000).microsecondsOfDay == 22_691_250_000)
        #expect(WallTime(microseconds: -1).microsecondsOfDay == 86_399_999_999)
        #expect(WallTime(microseconds: -1).timeOfDay == "23:59:59")
    }

    @Test func `durations move it`() {
        let time = WallTime(microseconds: 1_000_000)
        #expect(time + .milliseconds(1500) == WallTime(microseconds: 2_500_000))
        #expect(time - .seconds(2) == WallTime(microseconds: -1_000_000))
        #expect(time < time + .microseconds(1))
    }
}
