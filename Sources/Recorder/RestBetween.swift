import Takes

/// Decides when the kit is switched off between the hours of the schedule: once nobody has used it for a while, and the next hours are far enough.
struct RestBetween {
    private var state: State

    private enum State {
        /// It was used last then.
        case awake(since: Instant)
        /// The clock chip's alarm is being set.
        case settingAlarm
        /// The alarm could not be set.
        case refused(until: Instant)
        /// The kit is being switched off.
        case leaving
    }

    /// For how long nobody must have used the kit.
    static let quiet = Duration.seconds(600)
    /// How long before the hours the kit is switched on.
    static let lead = Duration.seconds(120)
    /// A rest shorter than this is not worth a start.
    static let shortest = Duration.seconds(900)
    /// How long after a failure the alarm is set again.
    static let pause = Duration.seconds(3600)

    init(now: Instant) { state = .awake(since: now) }

    /// The kit is used: by a person, by a take, or to send takes.
    mutating func use(now: Instant) {
        if case .awake = state { state = .awake(since: now) }
    }

    /// When the alarm is to go off; nil: the kit stays on. The answer is awaited then: `answered`.
    /// - Parameter next: when the next hours begin; nil: it is not known.
    mutating func turn(now: Instant, _ wallTime: WallTime, next: WallTime?) -> WallTime? {
        if case .refused(let until) = state, until <= now { state = .awake(since: now - Self.quiet) }
        guard case .awake(let since) = state, now - since >= Self.quiet, let next, next > wallTime + Self.shortest
        else {
            return nil
        }
        state = .settingAlarm
        return next - Self.lead
    }

    /// The alarm was set, or could not be.
    /// - Returns: whether the kit is to be switched off.
    mutating func answered(isSet: Bool, isUsed: Bool, now: Instant) -> Bool {
        guard case .settingAlarm = state else { return false }
        guard isSet else {
            state = .refused(until: now + Self.pause)
            return false
        }
        state = isUsed ? .awake(since: now) : .leaving
        return !isUsed
    }
}
