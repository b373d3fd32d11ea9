import Deck
import Takes
import Workers

/// Reports the service to the service manager, and ends its loop after a signal.
final class ServiceLife: LoopPart {
    private let signals: Signals
    private var supervisor: Supervisor
    private let loop: Loop
    private let deck: Deck
    /// Appended to the deck's summary.
    private let note: String
    private var phase = Phase.running

    private enum Phase { case running, ending }

    init(_ signals: consuming Signals, _ supervisor: consuming Supervisor, _ loop: Loop, _ deck: Deck, note: String) {
        self.signals = signals
        self.supervisor = supervisor
        self.loop = loop
        self.deck = deck
        self.note = note
    }

    var fileDescriptors: [Int32] { [signals.fileDescriptor] }

    func ready(now: Instant) {
        if signals.take() != nil { end() }
    }

    func turn(now: Instant) -> Instant? {
        supervisor.turn(now, position: deck.capturePosition, summary: deck.summary + note)
    }

    /// Ends the take that is recorded or played, then the loop. A second call does nothing.
    private func end() {
        switch phase {
        case .running:
            phase = .ending
            supervisor.ending()
            deck.finish { [loop] in loop.stop() }
        case .ending: break
        }
    }
}
