import Upload

/// For how long nothing is sent to a store that failed. Pure: `Sender` reports what happened, and when.
///
/// One failed request is no failed store: after something arrived, the next failure costs a second. The pause grows only while nothing
/// arrives, and a store is attempted again at least every five minutes, whatever it asks for.
struct StorePause: Sendable {
    typealias Instant = ContinuousClock.Instant

    private enum State {
        /// Something arrived since the last failure.
        case working
        /// Nothing is known of the store, since the start or since its surroundings changed.
        case untried
        /// So many pauses began since something arrived. The last one ends at `until`.
        case failing(pauses: Int, until: Instant)
    }

    private var state = State.untried

    /// The first pause of a store that took something before.
    static let afterSuccess = Duration.seconds(1)
    /// The first pause of a store that took nothing yet.
    static let shortest = Duration.seconds(5)
    /// A store is attempted again after this time.
    static let longest = Duration.seconds(300)

    /// A file arrived.
    mutating func succeeded() { state = .working }

    /// The network or a storage came or went, or a person wants an attempt: what failed before says nothing.
    mutating func reset() { state = .untried }

    /// The store failed for a reason that is not of one take.
    /// - Parameters:
    ///   - chance: 0 to 1. A pause is shorter by up to a half, so that kits that lost one server do not all come back at the same time.
    /// - Returns: when it is attempted again; nil: a pause has begun already, which this failure does not lengthen.
    mutating func failed(_ problem: StoreError.Problem, at now: Instant, chance: Double) -> Instant? {
        let pauses: Int
        var wait: Duration
        switch state {
        case .working:
            // The next one is as after a first failure.
            pauses = 0
            wait = Self.afterSuccess
        case .untried:
            pauses = 1
            wait = Self.shortest
        case .failing(let earlier, let until):
            guard until <= now else { return nil }
            pauses = earlier + 1
            wait = min(Self.longest, Self.shortest * (1 << min(earlier, 12)))
        }
        wait = wait * (0.5 + min(1, max(0, chance)) / 2)
        if case .busy(let least?) = problem { wait = max(wait, min(least, Self.longest)) }
        let until = now + wait
        state = .failing(pauses: pauses, until: until)
        return until
    }
}
