import Settings
import Takes
import Transport

/// The hours of each day in which the kit records by itself, as instants.
struct RecordingHours {
    private let daily: [HoursOfDay]
    /// What was worked out last, and for when.
    private var known: (at: WallTime, span: Span)?

    /// From an instant up to another.
    struct Span: Equatable {
        var from: WallTime
        var until: WallTime

        func contains(_ time: WallTime) -> Bool { from <= time && time < until }

        /// As the status has it.
        var hours: Status.Hours { Status.Hours(from: from.iso8601, until: until.iso8601) }
    }

    /// After this the time zone may be another.
    private static let validity = Duration.seconds(600)

    /// - Parameter daily: in local time, in any order. Those that touch or overlap are one.
    init(_ daily: [HoursOfDay]) {
        self.daily = daily
    }

    /// The hours that a time is in, else the next ones; nil: there are none.
    mutating func span(at time: WallTime) -> Span? {
        if let known, known.at <= time, time < known.span.until, time < known.at + Self.validity { return known.span }
        known = spans(around: time).first { $0.until > time }.map { (time, $0) }
        return known?.span
    }

    /// When the first hours begin after a time; nil: there are none.
    func begin(after time: WallTime) -> WallTime? { spans(around: time).first { $0.from > time }?.from }

    /// Those from the day before to the second day after, in their order.
    private func spans(around time: WallTime) -> [Span] {
        let today = LocalDay(of: time)
        let all = (-1...2).flatMap { day in
            daily.compactMap { hours in
                hours.span(day, from: today).map { Span(from: $0.lowerBound, until: $0.upperBound) }
            }
        }
        var merged: [Span] = []
        for span in all.sorted(by: { $0.from < $1.from }) {
            if let last = merged.last, span.from <= last.until {
                merged[merged.count - 1].until = max(last.until, span.until)
            } else {
                merged.append(span)
            }
        }
        return merged
    }
}
