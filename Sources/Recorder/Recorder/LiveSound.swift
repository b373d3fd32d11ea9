import Deck
import Listening
import Live
import Takes
import Workers

/// Makes the listen sockets stream the sound that the card delivers.
final class LiveSound: LoopPart {
    private let server: ListenServer
    private let deck: Deck
    /// The source that the server streams.
    private var source: LiveSource?

    init(_ server: ListenServer, _ deck: Deck) {
        self.server = server
        self.deck = deck
    }

    func turn(now: Instant) -> Instant? {
        handOverSource()
        return nil
    }

    func note(_ take: LiveTake) {
        // The take's ring must be announced first.
        handOverSource()
        server.note(take)
    }

    private func handOverSource() {
        let current = deck.liveSource
        guard current != source else { return }
        source = current
        server.stream(current)
    }
}
