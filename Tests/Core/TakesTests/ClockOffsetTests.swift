import Takes
import TestBench
import Testing

@Suite struct ClockOffsetTests {
    @Test func `an offset turns instants into dates and back`() {
        let instant = Instant(nanoseconds: 5_000_000_999)
        let offset = ClockOffset(WallTime(microseconds: 1_795_241_891_250_000), at: instant)
        #expect(offset.microseconds == 1_795_241_886_250_000)
        #expect(offset.wallTime(at: instant) == WallTime(microseconds: 1_795_241_891_250_000))
        #expect(
            offset.wallTime(at: instant - .seconds(2)) == WallTime(microseconds: 1_795_241_889_250_000))
    }

    @Test(arguments: [(0, 5), (5, 0), (-3, 2)] as [(Int64, Int64)])
    func `a step has a direction, a distance has none`(earlier: Int64, later: Int64) {
        let (earlier, later) = (ClockOffset(microseconds: earlier), ClockOffset(microseconds: later))
        #expect(later.step(since: earlier) == .microseconds(later.microseconds - earlier.microseconds))
        #expect(later.distance(to: earlier) == .microseconds(5))
    }

    @Test func `the ends of the range are far apart, and nothing overflows`() {
        let (least, most) = (ClockOffset(microseconds: .min), ClockOffset(microseconds: .max))
        #expect(least.distance(to: most) == .microseconds(Int64.max) + .microseconds(Int64.max) + .microseconds(1))
    }

    /// - Parameter readings: in milliseconds.
    private func scripted(_ readings: [Int64], aheadMicroseconds: Int64) -> TestClock {
        TestClock(
            at: Instant(nanoseconds: 0), wallTime: WallTime(microseconds: aheadMicroseconds),
            readings: readings.map { Instant(nanoseconds: $0 * 1_000_000) })
    }

    @Test func `two clocks that are read quickly after one another count, those with a pause between do not`() {
        // Each try reads monotonic, calendar, monotonic. The first try has 30 ms before the calendar and 20 after it.
        let clock = scripted([0, 30, 50, 60, 60, 60], aheadMicroseconds: 1_000_000)
        #expect(clock.offset() == ClockOffset(microseconds: 1_000_000))
        let alwaysBusy = scripted([0, 1, 2, 10, 14, 20, 30, 39, 50, 60, 61, 80, 90, 91, 99], aheadMicroseconds: 0)
        #expect(alwaysBusy.offset() == ClockOffset(microseconds: 0))
    }

    @Test func `the kernel's clocks keep their distance`() {
        let clock = SystemClock()
        let first = clock.offset()
        #expect(clock.offset().distance(to: first) < .milliseconds(10))
    }
}
