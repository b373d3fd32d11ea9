import Settings
import Takes

/// Decides when takes begin and end by themselves.
///
/// Within the hours the kit records. Who stops such a take, or the longest time that the settings allow, ends it until the next hours. A take that a
/// person began is left to that person; one that failed is followed by another as soon as the kit can record.
struct TakeSchedule {
    private var hours: RecordingHours
    private var state = State.waiting(retry: nil)

    private enum State {
        /// No take of the schedule is recorded. `retry`: not before this one begins.
        case waiting(retry: Instant?)
        /// A take is to begin, or to end: the deck has not answered.
        case asked
        /// A take of the schedule is recorded, in the hours that end then.
        case recording(until: WallTime)
        /// It was ended in these hours, which end then.
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

    /// How long after a failure the next take begins.
    static let pause = Duration.seconds(10)

    init(_ settings: Settings.Schedule) {
        hours = RecordingHours(settings.record)
    }

    /// What is due. After an action the deck's answer is awaited: `answered`.
    /// - Parameter wallTime: nil while the clock is not set. A take that is recorded goes on then.
    mutating func turn(_ now: Instant, _ wallTime: WallTime?, _ activity: Activity) -> Action? {
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
            state = .asked
            return .record
        case (.waiting, .ownTake), (.recording, .ownTake):
            guard isWithin else {
                state = .asked
                return .stop
            }
            state = .recording(until: span.until)
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

    /// The deck has answered what `turn` asked for.
    mutating func answered(_ action: Action, isDone: Bool, now: Instant) {
        switch (action, span) {
        case (.record, let span?) where isDone: state = .recording(until: span.until)
        case (.record, _): state = .waiting(retry: now + Self.pause)
        case (.stop, _): state = .waiting(retry: nil)
        }
    }

    /// A take has ended.
    mutating func ended(_ ending: Sidecar.Ending) {
        guard case .recording(let until) = state, ending == .stop || ending == .limit else { return }
        state = .over(until: until)
    }
}
