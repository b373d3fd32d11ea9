import History
import Takes
import Transport

/// Tracks the beginning and end of each fault that is shown.
struct FaultSpans {
    private var spans: [Span] = []

    /// The time during which at least one of the names that a fault was the first to report is shown.
    private struct Span {
        var code: Fault.Code
        var names: Set<Name>
        var since: Instant
    }

    /// Identifies a fault, or one channel's share of it, regardless of the figures in its message.
    private enum Name: Hashable {
        /// The words of the sentence, without its figures.
        case words(Fault.Code, String)
        /// A channel, whichever other channels the message names.
        case channel(Int, Fault.SignalTrouble)

        static func all(of fault: Fault) -> Set<Name> {
            switch fault.subject {
            case .channels(let channels, let trouble): Set(channels.map { .channel($0, trouble) })
            case .kind, .damagedTakes, .volatileStorage:
                [.words(fault.code, fault.message.filter { !$0.isNumber })]
            }
        }
    }

    /// Compares with all faults that are shown now.
    /// - Returns: the faults that ended, then the faults that began, each in their order.
    mutating func update(_ faults: [Fault], at now: Instant) -> [HistoryEvent] {
        let shown = faults.reduce(into: Set<Name>()) { $0.formUnion(Name.all(of: $1)) }
        for index in spans.indices { spans[index].names.formIntersection(shown) }
        var events: [HistoryEvent] = spans.filter(\.names.isEmpty).map { span in
            .faultEnded(.init(code: span.code.rawValue, seconds: (now - span.since).inMilliseconds))
        }
        spans.removeAll(where: \.names.isEmpty)
        for fault in faults {
            let new = spans.reduce(into: Name.all(of: fault)) { $0.subtract($1.names) }
            guard !new.isEmpty else { continue }
            spans.append(Span(code: fault.code, names: new, since: now))
            events.append(.faultBegan(.init(code: fault.code.rawValue, message: fault.message)))
        }
        return events
    }
}
