import Takes
import Transport

/// Back and stop held down together, which locks and unlocks the panel.
///
/// Stop that is pressed right after back, while that is down, waits: locked, the panel leaves a take running. If either button is
/// released before, it was a press of stop. Back that is down for longer is stuck or held, and stop acts at once.
struct LockHold: Sendable {
    private(set) var chord: Chord
    /// A press of stop that waits for whether the panel is locked.
    private var waitingStop: Instant?

    /// How soon after back stop is pressed to lock the panel.
    static let soon = Duration.seconds(1)

    /// - Parameter length: how long both are held.
    init(length: Duration) {
        chord = Chord(.back, .stop, length: length)
    }

    /// Takes in a level that counts, of one of the two buttons.
    /// - Returns: the press that counts now; nil: none does.
    mutating func turned(_ button: Button, _ turn: Debouncer.Turn) -> TransportEvent? {
        switch turn {
        case .pressed(let pressed):
            if button == .stop, let back = chord.since(.back), pressed - back < Self.soon { waitingStop = pressed }
            chord.take(button, turn)
            return waitingStop != nil && button == .stop ? nil : .press(button, at: pressed)
        case .released:
            defer { release(button) }
            return waitingStop.map { .press(.stop, at: $0) }
        }
    }

    /// One of the two buttons is up, or no longer counts as down.
    mutating func release(_ button: Button) {
        chord.release(button)
        waitingStop = nil
    }

    /// The event that is due. Holding on brings no other.
    mutating func decide() -> TransportEvent? {
        waitingStop = nil
        return chord.decide().map { .lock(at: $0) }
    }
}
