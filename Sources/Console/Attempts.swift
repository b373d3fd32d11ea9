import Takes

/// How often the wrong password was given: five times a minute for all browsers together, since addresses cost nothing.
struct Attempts: Sendable {
    private var failures: [Instant] = []

    /// The most failures of an interval.
    static let most = 5
    static let interval = Duration.seconds(60)

    /// Begins an attempt, which counts as a failure until it is taken back: others may come while this one waits for the disk.
    /// - Returns: how long it must wait instead; nil: it may be made now.
    mutating func begin(at now: Instant) -> Duration? {
        failures.removeAll { now - $0 >= Self.interval }
        guard failures.count < Self.most else { return Self.interval - (now - failures[0]) }
        failures.append(now)
        return nil
    }

    /// The attempt that began then was none: the password was right, or there is none.
    mutating func takeBack(_ began: Instant) {
        if let index = failures.lastIndex(of: began) { failures.remove(at: index) }
    }
}
