import Takes
import Upload

/// How long nothing is sent to a store that failed. Pure: `Sender` reports the events and their times.
///
/// One failed request does not mean that the store is down: after a successful upload, the next failure costs one
/// second. The pause grows only while nothing arrives. A store is tried again at least every five minutes, even if it
/// asks for longer.
struct StorePause: Sendable {
    private enum State {
        /// A file arrived after the last failure.
        case working
        /// Nothing is known about the store since the start or since its surroundings changed.
        case untried
        /// The number of pauses since a file arrived. The last pause ends at `until`.
        case failing(pauses: Int, until: Instant)
    }

    private var state = State.untried

    /// The first pause of a store that accepted a file before.
    static let afterSuccess = Duration.seconds(1)
    /// The first pause of a store that has not accepted a file yet.
    static let shortest = Duration.seconds(5)
    /// The longest pause.
    static let longest = Duration.seconds(300)

    mutating func succeeded() { state = .working }

    /// The network or a storage changed, or a person asks for an attempt: earlier failures are meaningless.
    mutating func reset() { state = .untried }

    /// The store failed for a reason that does not concern one take only.
    /// - Parameters:
    ///   - chance: 0 to 1. It shortens the pause by up to a half, so that kits that lost the same server do not all
    ///     return at the same time.
    /// - Returns: the time of the next attempt, or nil if a pause is already running, which this failure does not
    ///   extend.
    mutating func failed(_ problem: StoreError.Problem, at now: Instant, chance: Double) -> Instant? {
        let pauses: Int
        var wait: Duration
        switch state {
        case .working:
            // The next pause is then that after a first failure.
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
