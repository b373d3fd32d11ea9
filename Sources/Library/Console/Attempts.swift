import Takes

/// Wrong passwords: at most five a minute for each guesser, so that nobody can lock others out.
struct Attempts: Sendable {
    /// Failures are counted for each guesser, so that others' failures do not lock out a paired phone.
    enum Guesser: Hashable, Sendable {
        case address(BrowserAddress)
        case phone(String)
    }

    private var failures: [Guesser: [Instant]] = [:]

    /// The most failures in an interval.
    static let most = 5
    static let interval = Duration.seconds(60)
    /// The most guessers to keep. Above it, the one with the oldest failure is forgotten.
    static let mostGuessers = 1000

    /// Begins an attempt, which counts as a failure until `takeBack`, because other attempts may come while this one
    /// waits for the disk.
    /// - Returns: the time to wait first, or nil if the attempt is allowed now.
    mutating func begin(_ guesser: Guesser, at now: Instant) -> Duration? {
        let recent = (failures[guesser] ?? []).filter { now - $0 < Self.interval }
        guard recent.count < Self.most else { return Self.interval - (now - recent[0]) }
        if failures[guesser] == nil, failures.count >= Self.mostGuessers { makeRoom(at: now) }
        failures[guesser] = recent + [now]
        return nil
    }

    /// Removes the attempt from the failures, because the password was right or does not exist.
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
