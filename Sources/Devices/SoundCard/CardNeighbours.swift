import Takes

/// The cards that were there beside the one that was opened last, also those that went before it: none of them is that one, should it
/// be gone. Pure.
struct CardNeighbours: Equatable {
    /// A card that has the same numbers in the same place is taken for the same.
    private struct Neighbour: Hashable {
        var place: CardReference
        var numbers: CardReference?

        init(_ card: CardDescription) {
            place = card.stay.place
            let numbers = card.references.filter { if case .usb = $0 { true } else { false } }
            self.numbers = numbers.first { if case .usb(_, _, _?) = $0 { true } else { false } } ?? numbers.first
        }
    }

    private var open: CardStay?
    private var others: Set<Neighbour> = []

    /// No card was opened yet.
    init() {}

    /// One of some cards is opened.
    /// - Parameter before: those that it had before, if it is a card that was expected back.
    init(
        of card: CardDescription, among cards: [CardDescription], before: CardNeighbours = CardNeighbours()
    ) {
        open = card.stay
        others = before.others.filter { $0.place != card.stay.place }
        update(cards)
    }

    /// These cards are there now. Once the open one is gone, it may be among them again.
    mutating func update(_ cards: [CardDescription]) {
        guard let open, cards.contains(where: { $0.stay == open }) else { return }
        // Where a hub loses power, some go before the open one, and come back before it.
        others.formUnion(cards.filter { $0.stay != open }.map(Neighbour.init))
    }

    func contains(_ card: CardDescription) -> Bool { others.contains(Neighbour(card)) }
}

/// A card from when it is plugged in until it is unplugged.
struct CardStay: Hashable {
    /// Its port, or the device that it is; else its ALSA id.
    var place: CardReference
    var deviceNumber: Int?
}

extension CardDescription {
    /// It, as long as it stays plugged in.
    var stay: CardStay {
        let path = references.first { if case .path = $0 { true } else { false } }
        return CardStay(place: path ?? .cardID(alsaID), deviceNumber: deviceNumber)
    }
}
