import Takes
import Testing

@testable import Recorder

@Suite struct WatchdogFeedTests {
    /// For each (second, position): whether the feed feeds, and its next deadline.
    private func trace(_ turns: [(second: Int64, position: Int64?)]) -> [String] {
        func instant(_ seconds: Int64) -> Instant { Instant(nanoseconds: seconds * 1_000_000_000) }
        var feed = WatchdogFeed(interval: .seconds(10), start: instant(0))
        return turns.map { second, position in
            let now = instant(second)
            let isDue = feed.isDue(at: now, position: position)
            if isDue { feed.fed(at: now, position: position) }
            let next = feed.deadline(after: now).map { "next at \(Int(($0 - instant(0)).inSeconds))" } ?? "overdue"
            return "\(second): \(isDue ? "fed" : "-"), \(next)"
        }
    }

    @Test func `a card that delivers has it fed at each interval, and no earlier`() {
        #expect(
            trace([(0, 48), (4, 96), (9, 144), (10, 192), (25, 193)]) == [
                "0: fed, next at 10", "4: -, next at 10", "9: -, next at 10", "10: fed, next at 20",
                "25: fed, next at 35",
            ])
    }

    @Test func `a card that delivers nothing has it starve, until a frame comes`() {
        #expect(
            trace([(0, 48), (10, 48), (12, 48), (60, 48), (62, 49)]) == [
                "0: fed, next at 10", "10: -, overdue", "12: -, overdue", "60: -, overdue", "62: fed, next at 72",
            ])
    }

    @Test func `while the card is rightly closed it is fed`() {
        #expect(
            trace([(0, nil), (10, nil), (20, 0), (30, 0), (32, nil)]) == [
                "0: fed, next at 10", "10: fed, next at 20", "20: fed, next at 30", "30: -, overdue",
                "32: fed, next at 42",
            ])
    }

    @Test func `a new ring counts as progress`() {
        #expect(
            trace([(0, 960), (10, 0), (20, 0)]) == ["0: fed, next at 10", "10: fed, next at 20", "20: -, overdue"])
    }
}
