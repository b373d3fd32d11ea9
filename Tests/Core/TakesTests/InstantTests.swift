import Takes
import Testing

struct InstantTests {
    @Test func `instants and durations add up to the nanosecond`() {
        let instant = Instant(nanoseconds: 5_000_000_001)
        #expect(instant + .milliseconds(1) == Instant(nanoseconds: 5_001_000_001))
        #expect(instant - .seconds(6) == Instant(nanoseconds: -999_999_999))
        #expect(instant - Instant(nanoseconds: 1) == .seconds(5))
        #expect(Instant(nanoseconds: 1) - instant == .seconds(-5))
        #expect(Instant(nanoseconds: 1) < instant)
        #expect(Duration.seconds(-1.5).nanoseconds == -1_500_000_000)
        #expect(Duration.milliseconds(1250).inSeconds == 1.25)
    }

    @Test func `the system's clock goes on, and its date is after this was written`() {
        let clock = SystemClock()
        let first = clock.now()
        #expect(clock.now() >= first)
        #expect(first.nanoseconds > 0)
        #expect(clock.wallTime().microseconds != 0)
    }
}
