import Deck
import SoundCard
import Takes
import Workers

/// Makes the deck scan for cards when one was connected or removed.
final class CardArrivals: LoopPart {
    private let events: CardEvents
    private let deck: Deck

    /// Returns nil if the system does not report such events.
    init?(_ deck: Deck) {
        guard let events = CardEvents() else { return nil }
        self.events = events
        self.deck = deck
    }

    var fileDescriptors: [Int32] { [events.fileDescriptor] }

    func ready(now: Instant) {
        if events.drain() { deck.rescan() }
    }
}
