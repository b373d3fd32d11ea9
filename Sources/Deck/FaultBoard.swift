import Takes
import Transport

/// What is wrong at the moment: at most one fault of each kind, some of which pass by themselves.
struct FaultBoard {
    private var faults: [Fault.Code: (fault: Fault, until: Instant?)] = [:]

    /// Those that stay until the recorder restarts, such as bad settings.
    var standing: [Fault] = []

    /// Raises a fault; `until` nil: until it is cleared.
    /// - Returns: whether it is news: the kind was not raised, or said something else.
    @discardableResult
    mutating func raise(_ fault: Fault, until: Instant? = nil) -> Bool {
        let before = faults.updateValue((fault, until), forKey: fault.code)
        return before?.fault != fault
    }

    /// The cause is gone. A fault that passes by itself stays until then: it tells of something that happened.
    mutating func clear(_ code: Fault.Code) {
        if faults[code]?.until == nil { faults[code] = nil }
    }

    /// It is told of no longer, though it was to be.
    mutating func drop(_ code: Fault.Code) { faults[code] = nil }

    /// Drops what has passed.
    /// - Parameter standing: what still holds when its time has come: it is told until it is cleared.
    mutating func expire(at now: Instant, except standing: Fault.Code? = nil) {
        if let standing, let until = faults[standing]?.until, until <= now { faults[standing]?.until = nil }
        faults = faults.filter { $0.value.until.map { $0 > now } ?? true }
    }

    /// When the next one passes by itself.
    var nextExpiry: Instant? { faults.values.compactMap(\.until).min() }

    /// All, lowest code first.
    var list: [Fault] { (standing + faults.values.map(\.fault)).sorted { $0.code < $1.code } }

    subscript(code: Fault.Code) -> Fault? { faults[code]?.fault }
}
