import Takes

/// The cards that were present together with the card that was opened last, including those that were removed before
/// it. If that card disappears, none of these can be it. Pure.
struct CardNeighbours: Equatable {
    /// A card with the same numbers in the same place counts as the same card.
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

    init() {}

    /// Called when `card` is opened among `cards`.
    /// - Parameter before: the earlier neighbours, if `card` was expected back.
    init(
        of card: CardDescription, among cards: [CardDescription], before: CardNeighbours = CardNeighbours()
    ) {
        open = card.stay
        others = before.others.filter { $0.place != card.stay.place }
        update(cards)
    }

    /// Adds the present cards while the open card is present. After it is gone, a present card may be the open card
    /// again.
    mutating func update(_ cards: [CardDescription]) {
        guard let open, cards.contains(where: { $0.stay == open }) else { return }
        // If a hub loses power, some cards disappear before the open one, and come back before it.
        others.formUnion(cards.filter { $0.stay != open }.map(Neighbour.init))
    }

    func contains(_ card: CardDescription) -> Bool { others.contains(Neighbour(card)) }
}

/// A card from the time when it is plugged in until it is unplugged.
struct CardStay: Hashable {
    /// Its USB port or device path, or its ALSA id if it has no path.
    var place: CardReference
    var deviceNumber: Int?
}

extension CardDescription {
    var stay: CardStay {
        let path = references.first { if case .path = $0 { true } else { false } }
        return CardStay(place: path ?? .cardID(alsaID), deviceNumber: deviceNumber)
    }
}
