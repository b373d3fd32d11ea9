public import Takes

/// Decides whether the lamps may still show what the core posted last.
///
/// The core beats at each turn of its loop. One that has not beaten for a while is asked to; one that does not answer that
/// either is silent, and what its lamps said may be wrong. It is asked first because a machine that stood still as a
/// whole, as a virtual one does, needs a moment to go on: both threads are late then.
public struct CoreWatch: Hashable, Sendable {
    /// How long after its last beat a core counts as silent.
    public static let patience: Duration = .seconds(3)
    /// How long a core has to answer when it is asked, at least.
    public static let answerTime: Duration = .milliseconds(500)
    /// How long after its last beat a core is asked.
    public static let askAfter: Duration = patience - answerTime

    private enum State: Hashable {
        case answering
        case asked(at: Instant)
        case silent
    }

    private var state = State.answering
    private var lastBeat: Instant

    /// What is to be done.
    public enum Action: Hashable, Sendable {
        /// Ask the core to beat.
        case ask
        /// From here on the core counts as silent.
        case silent
        /// The core beats again.
        case answered
    }

    /// A core that beats at `start`.
    public init(start: Instant) {
        lastBeat = start
    }

    /// Whether the core has beaten in time.
    public var isAnswering: Bool { state == .answering }

    /// Whether the core does not answer.
    public var isSilent: Bool { state == .silent }

    /// When `turn` has something to decide, if the core does not beat before; nil: not until it beats.
    public var deadline: Instant? {
        switch state {
        case .answering: lastBeat + Self.askAfter
        case .asked(let asked): max(asked + Self.answerTime, lastBeat + Self.patience)
        case .silent: nil
        }
    }

    /// Takes in the core's last beat.
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
        case .asked:
            state = .silent
            return .silent
        case .silent: return nil
        }
    }
}
