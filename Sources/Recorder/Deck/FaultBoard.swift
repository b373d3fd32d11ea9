import Takes
import Transport

/// What is wrong: what the states of the kit say now, what happened a while ago and is still shown, and what stands until the
/// recorder restarts. What happened is shown in place of what the states say of that kind and the same subject.
struct FaultBoard {
    /// Those that stay until the recorder restarts, such as bad settings.
    var standing: [Fault] = []
    private var passing: [Fault.Code: Passing] = [:]
    private var current: [Fault] = []
    /// The faults that are shown, without the standing ones.
    private var shown: [Fault] = []
    /// The faults that happened since the last update.
    private var happened: [Fault] = []

    /// Something that happened.
    private struct Passing {
        var fault: Fault
        var until: Instant
        /// The faults of the states when it happened.
        var before: [Fault]
    }

    /// How long it is shown why a take ended early.
    static let endShown = Duration.seconds(60)

    /// Shows something that happened, for a while, or until the states say something else of that kind and the same subject.
    mutating func show(_ fault: Fault, until: Instant) {
        passing[fault.code] = Passing(fault: fault, until: until, before: current)
        happened.append(fault)
    }

    /// What happened is of no matter any more.
    mutating func drop(_ code: Fault.Code) { passing[code] = nil }

    /// Takes over what the states say at an instant.
    /// - Parameter faults: of one kind the most important first.
    /// - Returns: the faults that are news, lowest code first.
    mutating func update(_ now: Instant, _ faults: [Fault]) -> [Fault] {
        current = faults
        passing = passing.filter { _, happened in
            // That they say nothing any more does not undo what happened.
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

    /// When the next one passes by itself.
    var nextExpiry: Instant? { passing.values.map(\.until).min() }

    /// All, lowest code first.
    var list: [Fault] { (standing + shown).inOrder }

    /// Whether one of them says this, now or at the next update.
    func shows(_ message: String) -> Bool {
        (current + passing.values.map(\.fault)).contains { $0.message == message }
    }
}

extension [Fault] {
    /// Each once, lowest code first, those of one code in their order here.
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
        "clock: not set in this boot, or not known by what: dates of takes are not reliable: connect a network, or set the "
            + "time with 'fieldfare clock set'")
}
