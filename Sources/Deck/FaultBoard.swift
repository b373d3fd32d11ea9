import Takes
import Transport

/// What is wrong: what the states of the kit say now, what happened a while ago and is still shown, and what stands until the
/// recorder restarts. At most one fault of each kind, except those that stand.
struct FaultBoard {
    /// Those that stay until the recorder restarts, such as bad settings.
    var standing: [Fault] = []
    private var passing: [Fault.Code: Passing] = [:]
    private var current: [Fault.Code: Fault] = [:]
    private var reported: [Fault.Code: Fault] = [:]

    /// Something that happened.
    private struct Passing {
        var fault: Fault
        var until: Instant
        /// What the states said of that kind when it happened.
        var before: Fault?
    }

    /// How long it is shown why a take ended early.
    static let endShown = Duration.seconds(60)

    /// Shows something that happened, for a while, or until the states say something else of that kind.
    mutating func show(_ fault: Fault, until: Instant) {
        passing[fault.code] = Passing(fault: fault, until: until, before: current[fault.code])
    }

    /// What happened is of no matter any more.
    mutating func drop(_ code: Fault.Code) { passing[code] = nil }

    /// Takes over what the states say at an instant.
    /// - Returns: the faults that are news, lowest code first.
    mutating func update(_ now: Instant, _ faults: [Fault]) -> [Fault] {
        current = Dictionary(faults.map { ($0.code, $0) }) { first, _ in first }
        passing = passing.filter { code, happened in
            // That they say nothing any more does not undo what happened.
            let isReplaced = current[code].map { $0 != happened.before && $0 != happened.fault } ?? false
            return happened.until > now && !isReplaced
        }
        let shown = current.merging(passing.mapValues(\.fault)) { _, passing in passing }
        let news = shown.values.filter { reported[$0.code] != $0 }.sorted { $0.code < $1.code }
        reported = shown
        return news
    }

    /// When the next one passes by itself.
    var nextExpiry: Instant? { passing.values.map(\.until).min() }

    /// All, lowest code first.
    var list: [Fault] { (standing + reported.values).sorted { $0.code < $1.code } }

    /// Whether one of them says this, now or at the next update.
    func shows(_ message: String) -> Bool {
        (Array(current.values) + passing.values.map(\.fault)).contains { $0.message == message }
    }

    subscript(code: Fault.Code) -> Fault? { reported[code] }
}

extension Fault {
    static let clockUnset = Fault(
        .clockUnset,
        "clock: not set in this boot, or not known by what: dates of takes are not reliable: connect a network, or set the "
            + "time with 'fieldfare clock set'")
}
