import Settings
import Takes
import Transport

/// Decides when takes begin and end by themselves.
///
/// Within the hours the kit records. Who stops such a take, or the longest time that the settings allow, ends it until the next hours, a day at
/// most. A take that a person began is left to that person; one that failed is followed by another as soon as the kit can record.
struct TakeSchedule {
    private var hours: RecordingHours
    private var state = State.waiting(retry: nil)

    private enum State {
        /// No take of the schedule is recorded. `retry`: not before this one begins.
        case waiting(retry: Instant?)
        /// A take is to begin, or to end: the deck has not answered.
        case asked(Action)
        /// A take of the schedule is recorded.
        case recording
        /// It was ended in these hours; the next take begins after this.
        case over(until: WallTime)
    }

    /// What the deck is to do.
    enum Action: Hashable { case record, stop }

    /// What the deck does.
    enum Activity: Hashable {
        /// A take could begin.
        case free
        /// A take of the schedule is recorded.
        case ownTake
        /// Something else goes on, or no take could begin.
        case busy
    }

    /// The hours that are now, else the next; nil: there are none, or the clock is not set.
    private(set) var span: RecordingHours.Span?

    /// What the clock said last; nil: it is not set.
    private var wallTime: WallTime?

    /// How long after a failure the next take begins.
    static let pause = Duration.seconds(10)
    /// How long after a person's own take one of the schedule begins.
    static let courtesy = Duration.seconds(60)
    /// A take goes on if the clock is set back to so long before its hours.
    static let tolerance = Duration.seconds(300)
    /// The longest that who ends a take ends it for, where hours follow each other all day.
    static let longestEnd = Duration.seconds(86400)

    init(_ settings: Settings.Schedule) {
        hours = RecordingHours(settings.record)
    }

    /// What is due. After an action the deck's answer is awaited: `answered`.
    /// - Parameter wallTime: nil while the clock is not set. A take that is recorded goes on then.
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
            // It failed.
            state = .waiting(retry: now + Self.pause)
            return nil
        }
    }

    /// When `turn` is due at the latest; nil: when something happens.
    func deadline(_ now: Instant, _ wallTime: WallTime?) -> Instant? {
        guard let wallTime, let span else { return nil }
        let next = span.contains(wallTime) ? span.until : span.from
        let boundary = now + .microseconds(next.microseconds - wallTime.microseconds)
        guard case .waiting(let retry?) = state, retry > now else { return boundary }
        return min(boundary, retry)
    }

    /// When the first hours begin after a time; nil: there are none.
    func begin(after time: WallTime) -> WallTime? { hours.begin(after: time) }

    /// The deck has answered what `turn` asked for.
    mutating func answered(isDone: Bool, now: Instant) {
        // It may have been ended before it began.
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
