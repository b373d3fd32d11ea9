import Takes

/// How often the wrong password was given: five times a minute in all, whoever gives it, since addresses cost nothing.
struct Attempts: Sendable {
    private var failures: [Instant] = []

    /// The most failures of an interval.
    static let most = 5
    static let interval = Duration.seconds(60)

    /// How long the next attempt must wait; nil: not at all.
    mutating func wait(at now: Instant) -> Duration? {
        failures.removeAll { now - $0 >= Self.interval }
        guard failures.count >= Self.most else { return nil }
        return Self.interval - (now - failures[0])
    }

    /// Notes a failure.
    mutating func fail(at now: Instant) { failures.append(now) }
}
