import Ring
import Takes

/// A past opening of a card. Its sound is available until the card is opened in another format.
struct PastOpening {
    private let grant: CaptureGrant
    private let start: RingPosition
    private let openedAt: Instant
    private let gains: (first: CardGain, changes: [(gain: CardGain, at: Instant)])
    /// The reference is weak, because a ring in use cannot make room for one of another format.
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
    /// The opening that sampled a take's sound from an instant on, or nil if none of that sound is left.
    func opening(at instant: Instant) -> OpenCard? {
        if let open, open.openedAt <= instant { return open }
        return past?.opening ?? open
    }
}
