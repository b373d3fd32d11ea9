import Ring
import Takes

/// The search for a card that is better than the open one, which was not named. Pure: the deck carries the actions out.
struct CardSearch {
    private var state = State.nothing

    private enum State {
        case nothing
        /// The cards are looked at again: one is there that cannot be opened yet, or another one was opened.
        case waiting(since: Instant)
        case found([CardReference])
    }

    enum Action: Hashable {
        case look
        case move(to: [CardReference])
    }

    /// The time until the cards are looked at again.
    static let interval = Duration.seconds(2)

    /// A card was opened: another one may be better, and what was found before may be that one.
    mutating func opened(now: Instant) {
        state = .waiting(since: now)
    }

    /// The list of cards was read.
    mutating func found(_ better: BetterCard, now: Instant) {
        switch better {
        case .none: state = .nothing
        case .occupied: state = .waiting(since: now)
        case .free(let card): state = .found(card)
        }
    }

    /// Returns the action that is due; or nil if none is.
    /// - Parameter mayMove: whether nothing needs the open card.
    mutating func next(now: Instant, mayMove: Bool) -> Action? {
        guard mayMove else { return nil }
        switch state {
        case .nothing: return nil
        case .waiting(let since):
            guard now - since >= Self.interval else { return nil }
            state = .waiting(since: now)
            return .look
        case .found(let card):
            state = .nothing
            return .move(to: card)
        }
    }
}
