import Lines
import Panel
import Takes
import Transport

/// Decides when the lines of a panel are checked, and when missing ones are opened. A chip may appear after the
/// recorder's start, disappear and reappear. Pure: `PanelThread` carries the actions out.
struct LineWatch {
    /// A line or an LED device that the settings name.
    enum Line: Hashable, CustomStringConvertible {
        case button(Button)
        case lamp(Lamp)

        var description: String {
            switch self {
            case .button(let button): "button \(button.rawValue)"
            case .lamp(let lamp): "lamp \(lamp.rawValue)"
            }
        }
    }

    enum Action: Hashable {
        /// Check the lines, and release those that went away.
        case check
        /// Open the missing lines, then call `tried`.
        case open
    }

    /// The result of an opening.
    struct Outcome: Hashable {
        /// The errors that were not reported yet.
        var news: [LineError]
        /// The lines that were missing and are open now.
        var opened: [Line]
    }

    private enum State {
        /// All lines are open.
        case complete
        case missing([Line], nextOpening: Instant)
    }

    /// How often lines are checked while the thread is awake anyway, and how much later it wakes for the check.
    private static let checkInterval = Duration.seconds(2)
    private static let checkDelay = Duration.seconds(3)
    private static let openingInterval = Duration.seconds(5)

    private let isWired: Bool
    private var state = State.complete
    private var nextCheck = Instant(nanoseconds: 0)
    /// The messages about missing lines that were reported already.
    private var reported: Set<String> = []

    /// - Parameter isWired: whether the settings name any line.
    init(isWired: Bool) {
        self.isWired = isWired
    }

    /// The time of the next action if the thread does not wake before, or nil if there is none.
    var deadline: Instant? {
        let check = isWired ? nextCheck + Self.checkDelay : nil
        switch state {
        case .complete: return check
        case .missing(_, let nextOpening): return min(nextOpening, check ?? nextOpening)
        }
    }

    /// The thread is awake. Linux 6.1 wakes no reader of a line that went away, and a gesture is decided only if its
    /// line still exists.
    /// - Parameter decision: when the next gesture is decided, or nil if none is in progress.
    mutating func awake(at now: Instant, decision: Instant?) -> Action? {
        guard now >= nextCheck || decision.map({ $0 <= now }) ?? false else { return nil }
        nextCheck = now + Self.checkInterval
        return .check
    }

    /// These lines are not open.
    mutating func missing(_ lines: [Line], at now: Instant) -> Action? {
        guard !lines.isEmpty else {
            state = .complete
            return nil
        }
        guard case .missing(_, let nextOpening) = state else {
            state = .missing(lines, nextOpening: now + Self.openingInterval)
            return nil
        }
        let isDue = now >= nextOpening
        state = .missing(lines, nextOpening: isDue ? now + Self.openingInterval : nextOpening)
        return isDue ? .open : nil
    }

    /// The missing lines were opened as far as possible.
    /// - Parameter lines: the lines that are still missing.
    mutating func tried(missing lines: [Line], _ errors: [LineError]) -> Outcome {
        let news = news(errors)
        guard case .missing(let before, let nextOpening) = state else { return Outcome(news: news, opened: []) }
        state = lines.isEmpty ? .complete : .missing(lines, nextOpening: nextOpening)
        return Outcome(news: news, opened: before.filter { !lines.contains($0) })
    }

    /// The errors that were not reported yet: each message is reported once, however often the opening is retried.
    mutating func news(_ errors: [LineError]) -> [LineError] {
        errors.filter { reported.insert("\($0)").inserted }
    }
}
