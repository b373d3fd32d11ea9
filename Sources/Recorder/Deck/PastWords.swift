import Takes

/// Words for a past instant that change seldom, so that a log can use them.
struct PastWords {
    var now: Instant
    /// The offset of the calendar, or nil if it is not set. It is called only when needed.
    var calendar: () -> ClockOffset?

    /// `at 06:18`, or on another day `at 06:18 on 2026-11-21`, or without a calendar `over 10 min ago`.
    func callAsFunction(_ instant: Instant) -> String {
        guard let calendar = calendar() else { return ago(now - instant) }
        let (time, today) = (calendar.wallTime(at: instant), calendar.wallTime(at: now).localDate)
        return "at \(time.localTimeOfDay)\(time.localDate == today ? "" : " on \(time.localDate)")"
    }

    private func ago(_ passed: Duration) -> String {
        let minutes = Int(passed.inSeconds / 60)
        if minutes >= 24 * 60 { return "over \(minutes / (24 * 60)) d ago" }
        if minutes >= 60 { return "over \([12, 5, 2].first { minutes >= $0 * 60 } ?? 1) h ago" }
        return "over \([30, 10, 5, 2].first { minutes >= $0 } ?? 1) min ago"
    }
}
