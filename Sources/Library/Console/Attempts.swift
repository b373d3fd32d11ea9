import Takes

/// How often the wrong password was given: five times a minute by each guesser, so that nobody locks others out.
struct Attempts: Sendable {
    /// Whose failures count together: no failure of others keeps a phone out that is paired.
    enum Guesser: Hashable, Sendable {
        case address(BrowserAddress)
        case phone(String)
    }

    private var failures: [Guesser: [Instant]] = [:]

    /// The most failures of an interval.
    static let most = 5
    static let interval = Duration.seconds(60)
    /// More guessers are not kept: the one that failed longest ago is forgotten.
    static let mostGuessers = 1000

    /// Begins an attempt, which counts as a failure until it is taken back: others may come while this one waits for the disk.
    /// - Returns: how long it must wait instead; nil: it may be made now.
    mutating func begin(_ guesser: Guesser, at now: Instant) -> Duration? {
        let recent = (failures[guesser] ?? []).filter { now - $0 < Self.interval }
        guard recent.count < Self.most else { return Self.interval - (now - recent[0]) }
        if failures[guesser] == nil, failures.count >= Self.mostGuessers { makeRoom(at: now) }
        failures[guesser] = recent + [now]
        return nil
    }

    /// The attempt that began then was none: the password was right, or there is none.
    mutating func takeBack(_ guesser: Guesser, _ began: Instant) {
        guard let index = failures[guesser]?.lastIndex(of: began) else { return }
        failures[guesser]?.remove(at: index)
        if failures[guesser]?.isEmpty == true { failures[guesser] = nil }
    }

    private mutating func makeRoom(at now: Instant) {
        failures = failures.filter { now - ($0.value.last ?? now) < Self.interval }
        guard failures.count >= Self.mostGuessers else { return }
        if let oldest = failures.min(by: { ($0.value.last ?? now) < ($1.value.last ?? now) }) {
            failures[oldest.key] = nil
        }
    }
}
