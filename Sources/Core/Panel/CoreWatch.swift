public import Takes

/// Decides whether the lamps may still show the last indication from the core.
///
/// The core beats in each turn of its loop. If it has not beaten for a while, the panel asks it to beat. If it does not
/// answer, it counts as silent, and its lamps may show a wrong state. The panel asks first because a whole machine may
/// pause, as virtual ones do, and needs a moment to continue: then both threads are late. If the machine pauses after
/// the question, the panel finds itself late, and asks once more.
public struct CoreWatch: Hashable, Sendable {
    /// The time from the last beat until the core counts as silent.
    public static let patience: Duration = .seconds(3)
    /// The least time that the core has to answer.
    public static let answerTime: Duration = .milliseconds(500)
    /// The time from the last beat until the core is asked.
    public static let askAfter: Duration = patience - answerTime
    /// A panel that decides later than this after the deadline was paused itself.
    private static let lateness: Duration = .milliseconds(100)

    private enum State: Hashable {
        case answering
        case asked(at: Instant)
        /// Asked a second time, because the machine paused after the first question.
        case askedAgain(at: Instant)
        case silent
    }

    private var state = State.answering
    private var lastBeat: Instant

    public enum Action: Hashable, Sendable {
        /// Ask the core to beat.
        case ask
        /// The core counts as silent from now on.
        case silent
        /// The core beats again.
        case answered
    }

    /// - Parameter start: the time of the first beat.
    public init(start: Instant) {
        lastBeat = start
    }

    /// Whether the core was neither asked nor found silent since its last beat.
    public var isAnswering: Bool { state == .answering }

    public var isSilent: Bool { state == .silent }

    /// The time of the next decision of `turn` if the core does not beat before, or nil if only a beat changes the
    /// state.
    public var deadline: Instant? {
        switch state {
        case .answering: lastBeat + Self.askAfter
        case .asked(let asked), .askedAgain(let asked): max(asked + Self.answerTime, lastBeat + Self.patience)
        case .silent: nil
        }
    }

    /// - Parameter beat: the core's last beat.
    public mutating func turn(lastBeat beat: Instant, at now: Instant) -> Action? {
        if beat > lastBeat {
            lastBeat = beat
            let wasSilent = isSilent
            state = .answering
            if wasSilent { return .answered }
        }
        guard let deadline, deadline <= now else { return nil }
        switch state {
        case .answering:
            state = .asked(at: now)
            return .ask
        case .asked where deadline + Self.lateness < now:
            state = .askedAgain(at: now)
            return .ask
        case .asked, .askedAgain:
            state = .silent
            return .silent
        case .silent: return nil
        }
    }
}
