import Takes
import Transport

/// The faults of the kit: current faults from its states, past events that are still shown, and faults that last until
/// the recorder restarts. An event hides the current faults of the same kind and subject.
struct FaultBoard {
    /// Faults that last until the recorder restarts, such as bad settings.
    var standing: [Fault] = []
    private var passing: [Fault.Code: Passing] = [:]
    private var current: [Fault] = []
    /// The faults that are shown, without the standing ones.
    private var shown: [Fault] = []
    /// The events since the last update.
    private var happened: [Fault] = []

    /// An event that is shown for a while.
    private struct Passing {
        var fault: Fault
        var until: Instant
        /// The current faults at the time of the event.
        var before: [Fault]
    }

    /// The reason why a take ended early is shown for this long.
    static let endShown = Duration.seconds(60)

    /// Shows an event until an instant, or until the states report another fault of the same kind and subject.
    mutating func show(_ fault: Fault, until: Instant) {
        passing[fault.code] = Passing(fault: fault, until: until, before: current)
        happened.append(fault)
    }

    /// Stops showing the event of this kind.
    mutating func drop(_ code: Fault.Code) { passing[code] = nil }

    /// Takes the current faults of the states at an instant.
    /// - Parameter faults: the most important of each kind first.
    /// - Returns: the new faults, lowest code first.
    mutating func update(_ now: Instant, _ faults: [Fault]) -> [Fault] {
        current = faults
        passing = passing.filter { _, happened in
            // An event stays shown even if the states no longer report a fault.
            let isReplaced = faults.contains {
                $0.isAbout(happened.fault) && $0 != happened.fault && !happened.before.contains($0)
            }
            return happened.until > now && !isReplaced
        }
        let before = shown
        shown = passing.values.map(\.fault)
        shown += faults.filter { fault in !(passing[fault.code]?.fault.isAbout(fault) ?? false) }
        shown = shown.inOrder
        let news = (happened + shown).inOrder.filter { !before.contains($0) }
        happened = []
        return news
    }

    /// The time at which the next event expires.
    var nextExpiry: Instant? { passing.values.map(\.until).min() }

    /// All faults, lowest code first.
    var list: [Fault] { (standing + shown).inOrder }

    /// Whether a fault has this message, now or at the next update.
    func shows(_ message: String) -> Bool {
        (current + passing.values.map(\.fault)).contains { $0.message == message }
    }
}

extension [Fault] {
    /// Without duplicates, lowest code first, and otherwise in the given order.
    fileprivate var inOrder: [Fault] {
        reduce(into: []) { all, fault in
            if !all.contains(fault) { all.append(fault) }
        }.sorted { $0.code < $1.code }
    }
}

extension Fault {
    fileprivate func isAbout(_ other: Fault) -> Bool { code == other.code && subject == other.subject }

    static let clockUnset = Fault(
        .clockUnset,
        "clock: not set since boot, or its source is unknown: dates of takes are not reliable: connect a network, or set the "
            + "time with 'fieldfare clock set'")
}
