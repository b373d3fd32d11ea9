import Ring
import Takes

/// The search for a card that is better than the open one, if the settings name no card. Pure: the deck carries the
/// actions out.
struct CardSearch {
    private var state = State.nothing

    private enum State {
        case nothing
        /// The cards must be examined again: a better one is present but cannot be opened yet, or another card was
        /// opened.
        case waiting(since: Instant)
        case found([CardReference])
    }

    enum Action: Hashable {
        case look
        case move(to: [CardReference])
    }

    /// The interval between two examinations of the cards.
    static let interval = Duration.seconds(2)

    /// A card was opened. Another may be better, and an earlier result may be this card.
    mutating func opened(now: Instant) {
        state = .waiting(since: now)
    }

    mutating func found(_ better: BetterCard, now: Instant) {
        switch better {
        case .none: state = .nothing
        case .occupied: state = .waiting(since: now)
        case .free(let card): state = .found(card)
        }
    }

    /// Returns the action that is due, or nil for none.
    /// - Parameter mayMove: whether the open card may be closed.
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
