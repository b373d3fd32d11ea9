import Panel
import Takes

/// The visible light of one lamp from an instant on, if nothing new happens.
struct LampTrace {
    /// Light and darkness in turn.
    private(set) var stretches: [(isLit: Bool, length: Duration)] = []

    init(of lamp: Lamp, on display: Display, from start: Instant, for length: Duration) {
        var instant = start
        let end = start + length
        while instant < end {
            let isLit = display.lit(at: instant).contains(lamp)
            var next = instant
            repeat {
                next = display.nextChange(after: next) ?? end
            } while next < end
                && display.lit(at: next).contains(lamp) == isLit
            stretches.append((isLit, min(next, end) - instant))
            instant = next
        }
    }

    var isDark: Bool { stretches.allSatisfy { !$0.isLit } }
    var isLit: Bool { stretches.allSatisfy(\.isLit) }
    /// The number of lit stretches.
    var flashes: Int { stretches.count(where: \.isLit) }
    var longestFlash: Duration { stretches.filter(\.isLit).map(\.length).max() ?? .zero }
    var longestDarkness: Duration { stretches.filter { !$0.isLit }.map(\.length).max() ?? .zero }

    /// The number of flashes between two pauses, or nil if the lamp does not flash in this way, or not for long enough.
    var count: Int? {
        let pauses = stretches.indices.filter { !stretches[$0].isLit && stretches[$0].length >= .seconds(1) }
        guard pauses.count >= 2 else { return nil }
        return stretches[pauses[0]..<pauses[1]].count(where: \.isLit)
    }
}
