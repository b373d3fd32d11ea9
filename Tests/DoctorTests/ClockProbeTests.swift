import Takes
import Testing

@testable import Doctor

@Suite struct ClockProbeTests {
    @Test(arguments: [
        (true, false, "1970-01-01", "2026-11-21" as String?, ClockOrigin.ntp),
        (false, true, "2026-11-21", "2026-11-21", .rtc),
        (false, true, "2026-11-21", nil, .rtc),
        (false, true, "2026-11-20", "2026-11-21", .unset),
        (false, false, "2026-11-21", nil, .unset),
    ])
    func `the clock is judged by what this boot saw`(
        isSynchronised: Bool, isSetFromRTC: Bool, today: String, newestTake: String?, origin: ClockOrigin
    ) {
        let found = ClockProbe.origin(
            isSynchronised: isSynchronised, isSetFromRTC: isSetFromRTC, today: today, newestTake: newestTake)
        #expect(found == origin)
    }
}
