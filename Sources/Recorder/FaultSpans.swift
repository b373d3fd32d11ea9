import History
import Takes
import Transport

/// When each fault that is shown began.
struct FaultSpans {
    private var since: [Fault.Code: Instant] = [:]

    /// Takes over all faults that are shown now.
    /// - Returns: which began and which ended, lowest code first. What a fault's sentence says later is left out: it may be a figure
    ///   that changes.
    mutating func update(_ faults: [Fault], at now: Instant) -> [HistoryEvent] {
        let shown = Set(faults.map(\.code))
        var events: [HistoryEvent] = []
        for (code, began) in since.sorted(by: { $0.key < $1.key }) where !shown.contains(code) {
            since[code] = nil
            events.append(.faultEnded(.init(code: code.rawValue, seconds: (now - began).inMilliseconds)))
        }
        for fault in faults where since[fault.code] == nil {
            since[fault.code] = now
            events.append(.faultBegan(.init(code: fault.code.rawValue, message: fault.message)))
        }
        return events
    }
}
