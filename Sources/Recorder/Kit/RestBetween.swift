import Takes

/// Decides when the kit is switched off between the hours of the schedule: once nobody has used it for a while, and the
/// next hours are far enough away.
struct RestBetween {
    private var lastUse: Instant
    private var state = State.awake

    private enum State {
        case awake
        case settingAlarm
        /// The alarm could not be set, or the power stayed on.
        case refused(until: Instant)
    }

    /// The kit must be unused for this long.
    static let quiet = Duration.seconds(600)
    /// How long before the hours the kit is switched on.
    static let lead = Duration.seconds(120)
    /// A shorter rest is not worth a boot.
    static let shortest = Duration.seconds(900)
    /// The retry delay after a failure.
    static let pause = Duration.seconds(3600)

    init(now: Instant) { lastUse = now }

    /// Call it when the kit is used: by a person, by a take, or to send takes. A pending alarm is then ignored.
    mutating func use(now: Instant) {
        lastUse = now
        if case .settingAlarm = state { state = .awake }
    }

    /// Returns the time for the alarm, or nil if the kit stays on. After a time, the caller must call `answered`.
    /// - Parameter next: when the next hours begin, or nil if that is not known.
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

    /// Call it when the alarm was set, or could not be.
    /// - Returns: whether the kit must be switched off.
    mutating func answered(isSet: Bool, now: Instant) -> Bool {
        guard case .settingAlarm = state else { return false }
        // If the power stays on, the next attempt follows after the pause.
        state = .refused(until: now + Self.pause)
        return isSet
    }
}
