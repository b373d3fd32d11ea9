import Settings
import Takes
import Transport

/// The hours of each day in which the kit records without a person, as instants.
struct RecordingHours {
    private let daily: [HoursOfDay]
    /// The last result of `span(at:)`, and the time of that call.
    private var known: (at: WallTime, span: Span)?

    /// A half-open range: `until` is excluded.
    struct Span: Equatable {
        var from: WallTime
        var until: WallTime

        func contains(_ time: WallTime) -> Bool { from <= time && time < until }

        /// In the status's format.
        var hours: Status.Hours { Status.Hours(from: from.iso8601, until: until.iso8601) }
    }

    /// The time zone may change, so a result is used for at most this long.
    private static let validity = Duration.seconds(600)

    /// - Parameter daily: in local time, in any order. Hours that touch or overlap are merged.
    init(_ daily: [HoursOfDay]) {
        self.daily = daily
    }

    /// The hours that contain a time, otherwise the next ones, or nil if there are none.
    mutating func span(at time: WallTime) -> Span? {
        if let known, known.at <= time, time < known.span.until, time < known.at + Self.validity { return known.span }
        known = spans(around: time).first { $0.until > time }.map { (time, $0) }
        return known?.span
    }

    /// When the first hours after a time begin, or nil if there are none.
    func begin(after time: WallTime) -> WallTime? { spans(around: time).first { $0.from > time }?.from }

    /// The hours from the day before to the second day after, in their order.
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
