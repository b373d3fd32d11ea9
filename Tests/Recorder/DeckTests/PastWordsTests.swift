import Takes
import Testing

@testable import Deck

@Suite struct PastWordsTests {
    private let past = Instant(nanoseconds: 0)

    private func words(after minutes: Int, calendar: ClockOffset? = nil) -> String {
        PastWords(now: past + .seconds(60 * minutes)) { calendar }(past)
    }

    @Test func `without a date it is how long ago something was, in few steps`() {
        #expect(
            [0, 1, 4, 9, 29, 30, 59, 60, 119, 299, 719, 720, 1439, 1440, 4321].map { words(after: $0) } == [
                "over 1 min ago", "over 1 min ago", "over 2 min ago", "over 5 min ago", "over 10 min ago",
                "over 30 min ago", "over 30 min ago", "over 1 h ago", "over 1 h ago", "over 2 h ago", "over 5 h ago",
                "over 12 h ago", "over 12 h ago", "over 1 d ago", "over 3 d ago",
            ])
    }

    @Test func `with a date it is the local time, and the day if that is not today`() {
        let time = WallTime(microseconds: 1_795_241_891_000_000)
        let calendar = ClockOffset(time, at: past)
        #expect(words(after: 1, calendar: calendar) == "at \(time.localTimeOfDay)")
        #expect(words(after: 3000, calendar: calendar) == "at \(time.localTimeOfDay) on \(time.localDate)")
    }
}
