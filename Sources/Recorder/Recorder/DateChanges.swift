import Deck
import Kit
import Takes
import Transport
import Workers

/// Informs the deck and the history that the date was set, or that its origin became known.
final class DateChanges: LoopPart {
    private let kitClock: KitClock
    private let deck: Deck
    private let flightRecorder: FlightRecorder?

    init(_ kitClock: KitClock, _ deck: Deck, _ flightRecorder: FlightRecorder?) {
        self.kitClock = kitClock
        self.deck = deck
        self.flightRecorder = flightRecorder
    }

    var fileDescriptors: [Int32] { [kitClock.fileDescriptor] }

    func ready(now: Instant) { kitClock.drain() }

    func turn(now: Instant) -> Instant? {
        if kitClock.hasChanged() {
            deck.clockChanged()
            flightRecorder?.note(deck.status.clock)
        }
        return nil
    }

    /// A person set the date. The deck's status shows it at once.
    func wasSetByHand(now: Instant) {
        kitClock.wasSetByHand()
        _ = turn(now: now)
        _ = deck.turn(now: now)
    }
}
