import Ring
import Takes

/// An opening of a card that has ended. Its sound is there until the card is opened in another format.
struct PastOpening {
    private let grant: CaptureGrant
    private let start: RingPosition
    private let openedAt: Instant
    private let gains: (first: CardGain, changes: [(gain: CardGain, at: Instant)])
    /// A ring that is in use cannot make room for one of another format.
    private weak var ring: Ring?

    init(_ card: OpenCard) {
        (grant, start, openedAt, ring) = (card.grant, card.start, card.openedAt, card.ring)
        gains = card.gains(since: card.openedAt)
    }

    /// The opening as it was, or nil if its sound is gone.
    var opening: OpenCard? {
        guard let ring else { return nil }
        var first = grant
        first.gain = gains.first
        var card = OpenCard(grant: first, ring: ring, start: start, receivedBefore: 0, openedAt: openedAt)
        for change in gains.changes { card.note(change.gain, at: change.at) }
        return card
    }
}

extension CardState {
    /// Returns the opening that sampled what the take has from an instant on, or nil if nothing of it is left.
    func opening(at instant: Instant) -> OpenCard? {
        if let open, open.openedAt <= instant { return open }
        return past?.opening ?? open
    }
}
