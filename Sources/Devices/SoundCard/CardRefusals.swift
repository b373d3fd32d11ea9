import Takes

/// The cards that could not be opened, or delivered nothing. `auto` tries other cards first. Pure.
struct CardRefusals {
    private struct Refusal {
        var count: Int
        var reason: String
    }

    private var refusals: [CardStay: Refusal] = [:]

    /// After this number of refusals, a card does not replace the open card until it is plugged in again, because each
    /// attempt interrupts the open card's sound.
    static let most = 3

    /// Notes that a card could not be opened or delivered nothing.
    mutating func refuse(_ card: CardStay, because reason: String) {
        refusals[card] = Refusal(count: count(of: card) + 1, reason: reason)
    }

    /// Notes that a card delivered frames.
    mutating func accept(_ card: CardStay) {
        refusals[card] = nil
    }

    /// Forgets the cards that were unplugged.
    mutating func update(_ cards: [CardDescription]) {
        let stays = Set(cards.map(\.stay))
        refusals = refusals.filter { stays.contains($0.key) }
    }

    /// How often a card was refused since it was plugged in or last delivered frames.
    func count(of card: CardStay) -> Int { refusals[card]?.count ?? 0 }

    /// The reason of the card's last refusal, or nil if it was not refused.
    func reason(of card: CardStay) -> String? { refusals[card]?.reason }
}
