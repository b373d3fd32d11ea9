import Settings
import Takes
import Transport

/// Decides when takes begin and end without a person.
///
/// The kit records within the hours. If a person stops such a take, or it reaches the longest time that the settings
/// allow, recording is suspended until the next hours, for a day at most. A take that a person began is left to that
/// person. After a failed take, the next one begins as soon as the kit can record.
struct TakeSchedule {
    private var hours: RecordingHours
    private var state = State.waiting(retry: nil)

    private enum State {
        /// No take of the schedule is recorded. `retry`: the earliest start of the next one.
        case waiting(retry: Instant?)
        /// The deck has not answered the request yet.
        case asked(Action)
        /// A take of the schedule is recorded.
        case recording
        /// A take was ended within these hours; the next one begins after this.
        case over(until: WallTime)
    }

    enum Action: Hashable { case record, stop }

    enum Activity: Hashable {
        /// A take could begin.
        case free
        /// A take of the schedule is recorded.
        case ownTake
        /// Something else is active, or no take could begin.
        case busy
    }

    /// The current hours, otherwise the next, or nil if there are none or the clock is not set.
    private(set) var span: RecordingHours.Span?

    /// The last wall clock reading, or nil if the clock is not set.
    private var wallTime: WallTime?

    /// The delay before the next take after a failure.
    static let pause = Duration.seconds(10)
    /// The delay before a take of the schedule after a person's own take.
    static let courtesy = Duration.seconds(60)
    /// If the clock is set back to at most this long before the hours, their take continues.
    static let tolerance = Duration.seconds(300)
    /// Ending a take suspends the schedule for at most this long, even if the hours cover the whole day.
    static let longestEnd = Duration.seconds(86400)

    init(_ settings: Settings.Schedule) {
        hours = RecordingHours(settings.record)
    }

    /// Returns the next action. After an action, the caller must call `answered` with the deck's answer.
    /// - Parameter wallTime: nil while the clock is not set. A take that is recorded then continues.
    mutating func turn(_ now: Instant, _ wallTime: WallTime?, _ activity: Activity) -> Action? {
        self.wallTime = wallTime
        span = wallTime.flatMap { hours.span(at: $0) }
        guard let wallTime, let span else { return nil }
        let isWithin = span.contains(wallTime)
        switch (state, activity) {
        case (.asked, _): return nil
        case (.over(let until), _):
            if !isWithin || wallTime >= until { state = .waiting(retry: nil) }
            return nil
        case (.waiting(let retry), .free):
            guard isWithin, retry.map({ $0 <= now }) ?? true else { return nil }
            state = .asked(.record)
            return .record
        case (.waiting, .ownTake), (.recording, .ownTake):
            guard isWithin || span.from < wallTime + Self.tolerance else {
                state = .asked(.stop)
                return .stop
            }
            state = .recording
            return nil
        case (.waiting, .busy): return nil
        case (.recording, .free), (.recording, .busy):
            // The take failed.
            state = .waiting(retry: now + Self.pause)
            return nil
        }
    }

    /// The deadline for the next `turn`, or nil if only an event can cause an action.
    func deadline(_ now: Instant, _ wallTime: WallTime?) -> Instant? {
        guard let wallTime, let span else { return nil }
        let next = span.contains(wallTime) ? span.until : span.from
        let boundary = now + .microseconds(next.microseconds - wallTime.microseconds)
        guard case .waiting(let retry?) = state, retry > now else { return boundary }
        return min(boundary, retry)
    }

    /// When the first hours after a time begin, or nil if there are none.
    func begin(after time: WallTime) -> WallTime? { hours.begin(after: time) }

    /// The deck has answered the request of `turn`.
    mutating func answered(isDone: Bool, now: Instant) {
        // The take may have been ended before it began.
        guard case .asked(let action) = state else { return }
        switch action {
        case .record where isDone: state = .recording
        case .record: state = .waiting(retry: now + Self.pause)
        case .stop: state = .waiting(retry: nil)
        }
    }

    /// The take that is recorded was ordered to end.
    mutating func ended(_ ending: TakeEnding, now: Instant) {
        guard let span, let wallTime else { return }
        switch (state, ending) {
        case (.recording, .stop), (.recording, .limit), (.asked(.record), .stop), (.asked(.record), .limit):
            state = .over(until: min(span.until, wallTime + Self.longestEnd))
        case (.recording, _): state = .waiting(retry: now + Self.pause)
        case (.waiting, .stop) where span.contains(wallTime): state = .waiting(retry: now + Self.courtesy)
        case (.waiting, _), (.asked, _), (.over, _): break
        }
    }
}
