import Takes
import Transport

/// Back and stop held down together, which locks and unlocks the panel.
///
/// It takes in what was decided about the two buttons in the order of the decisions, so that its own decision depends on
/// their edges alone. Once both are down, neither repeats nor shuts down until it was released.
///
/// Stop that is pressed right after back, while that is down, waits: locked, the panel leaves a take running. If either button is
/// released before, it was a press of stop. Back that is down for longer is stuck or held, and stop acts at once.
struct LockHold: Sendable {
    /// The buttons that are held.
    static let buttons: [Button] = [.back, .stop]

    private enum Hold {
        case up
        case down(since: Instant)
        /// Both buttons were down during this press.
        case joined(since: Instant)

        var since: Instant? {
            switch self {
            case .up: nil
            case .down(let since), .joined(let since): since
            }
        }
    }

    private let length: Duration
    private var holds: [Button: Hold] = [:]

    /// A press of stop that waits for whether the panel is locked.
    private var waitingStop: Instant?

    /// How soon after back stop is pressed to lock the panel.
    static let chord = Duration.seconds(1)

    /// When the panel is locked or unlocked if both buttons stay down; nil: it is not.
    private(set) var due: Instant?

    /// - Parameter length: how long both are held.
    init(length: Duration) {
        self.length = length
    }

    /// Takes in a level that counts, of one of the two buttons.
    /// - Returns: the press that counts now; nil: none does.
    mutating func turned(_ button: Button, _ turn: Debouncer.Turn) -> TransportEvent? {
        switch turn {
        case .pressed(let pressed):
            if button == .stop, let back = holds[.back]?.since, pressed - back < Self.chord { waitingStop = pressed }
            holds[button] = .down(since: pressed)
            let all = Self.buttons.compactMap { holds[$0]?.since }
            if all.count == Self.buttons.count, let last = all.max() {
                for button in Self.buttons { holds[button] = holds[button]?.since.map { .joined(since: $0) } }
                due = last + length
            }
            return waitingStop != nil && button == .stop ? nil : .press(button, at: pressed)
        case .released:
            defer { release(button) }
            return waitingStop.map { .press(.stop, at: $0) }
        }
    }

    /// One of the two buttons is up, or no longer counts as down.
    mutating func release(_ button: Button) {
        holds[button] = .up
        due = nil
        waitingStop = nil
    }

    /// The event that is due. Holding on brings no other.
    mutating func decide() -> TransportEvent? {
        defer {
            due = nil
            waitingStop = nil
        }
        return due.map { .lock(at: $0) }
    }

    /// Whether what holding this button on would bring does not count.
    func suppresses(_ button: Button) -> Bool {
        if case .joined = holds[button] { return true }
        return false
    }
}
