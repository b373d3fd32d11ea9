import Takes

/// The cards that could not be opened, or delivered nothing: `auto` takes another one first. Pure.
struct CardRefusals {
    private struct Refusal {
        var count: Int
        var reason: String
    }

    private var refusals: [CardStay: Refusal] = [:]

    /// A card that was refused so often takes no other card's place until it was unplugged: each attempt costs the open card's sound.
    static let most = 3

    /// A card could not be opened or delivered nothing, for this reason.
    mutating func refuse(_ card: CardStay, because reason: String) {
        refusals[card] = Refusal(count: count(of: card) + 1, reason: reason)
    }

    /// A card delivered.
    mutating func accept(_ card: CardStay) {
        refusals[card] = nil
    }

    /// These cards are there now: those that were unplugged are forgotten.
    mutating func update(_ cards: [CardDescription]) {
        let stays = Set(cards.map(\.stay))
        refusals = refusals.filter { stays.contains($0.key) }
    }

    /// How often a card was refused since it was plugged in, or delivered last.
    func count(of card: CardStay) -> Int { refusals[card]?.count ?? 0 }

    /// Why a card was refused last; nil: it was not.
    func reason(of card: CardStay) -> String? { refusals[card]?.reason }
}
