import Takes
import Transport

/// Back and stop held down together, which locks and unlocks the panel.
///
/// A press of stop soon after back, while back is down, waits: if the hold locks the panel, the press must not end a
/// take. If either button is released before the lock, the press of stop counts. If back was down for longer, it is
/// stuck or held, and stop acts at once.
struct LockHold: Sendable {
    private(set) var chord: Chord
    /// A press of stop that waits for the decision about the lock.
    private var waitingStop: Instant?

    /// To lock the panel, stop must be pressed within this time after back.
    static let soon = Duration.seconds(1)

    /// - Parameter length: how long both must be held.
    init(length: Duration) {
        chord = Chord(.back, .stop, length: length)
    }

    /// Takes a debounced change of one of the two buttons.
    /// - Returns: the press that counts now, or nil.
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

    /// The event that is due. Holding the buttons longer has no further effect.
    mutating func decide() -> TransportEvent? {
        waitingStop = nil
        return chord.decide().map { .lock(at: $0) }
    }
}
