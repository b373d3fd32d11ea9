import Takes

/// Decides when the kit is switched off between the hours of the schedule: once nobody has used it for a while, and the next hours are far enough.
struct RestBetween {
    private var lastUse: Instant
    private var state = State.awake

    private enum State {
        case awake
        /// The clock chip's alarm is being set.
        case settingAlarm
        /// The alarm could not be set, or the power stayed on.
        case refused(until: Instant)
    }

    /// For how long nobody must have used the kit.
    static let quiet = Duration.seconds(600)
    /// How long before the hours the kit is switched on.
    static let lead = Duration.seconds(120)
    /// A rest shorter than this is not worth a start.
    static let shortest = Duration.seconds(900)
    /// How long after a failure it is tried again.
    static let pause = Duration.seconds(3600)

    init(now: Instant) { lastUse = now }

    /// The kit is used: by a person, by a take, or to send takes. An alarm that is being set is not waited for any more.
    mutating func use(now: Instant) {
        lastUse = now
        if case .settingAlarm = state { state = .awake }
    }

    /// When the alarm is to go off; nil: the kit stays on. The answer is awaited then: `answered`.
    /// - Parameter next: when the next hours begin; nil: it is not known.
    mutating func turn(now: Instant, _ wallTime: WallTime, next: WallTime?) -> WallTime? {
        switch state {
        case .settingAlarm: return nil
        case .refused(let until) where until > now: return nil
        case .refused, .awake: break
        }
        guard now - lastUse >= Self.quiet, let next, next > wallTime + Self.shortest else { return nil }
        state = .settingAlarm
        return next - Self.lead
    }

    /// The alarm was set, or could not be.
    /// - Returns: whether the kit is to be switched off.
    mutating func answered(isSet: Bool, now: Instant) -> Bool {
        guard case .settingAlarm = state else { return false }
        // Should the power stay on, it is asked for again.
        state = .refused(until: now + Self.pause)
        return isSet
    }
}
