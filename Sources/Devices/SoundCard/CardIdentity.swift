import Takes

/// Pure rules that decide which of a card's names identifies it among the present cards.
///
/// A USB card is identified by the first of these that no other present card shares:
/// 1. `usb:VID:PID:SERIAL`, unless the serial number has no letter and no digit except 0;
/// 2. `usb:VID:PID`, if it is the only card of its model;
/// 3. `path:PORT`, if there are two of its model and only the port identifies it;
/// 4. `card:ID`.
///
/// Any other card is identified by its ALSA id: it cannot change places, and its path is that of a driver.
enum CardIdentity {
    /// The same cards, with the identity of each as its first reference.
    static func settle(_ cards: [CardDescription]) -> [CardDescription] {
        cards.map { card in
            var card = card
            let identity = identity(of: card, among: cards)
            card.references = [identity] + card.references.filter { $0 != identity }
            return card
        }
    }

    private static func identity(of card: CardDescription, among cards: [CardDescription]) -> CardReference {
        guard card.kind == .usb else { return .cardID(card.alsaID) }
        let others = cards.filter { $0.index != card.index }
        return candidates(of: card).first { name in !others.contains { $0.matches(name) } } ?? .cardID(card.alsaID)
    }

    private static func candidates(of card: CardDescription) -> [CardReference] {
        let models = card.references.flatMap { reference -> [CardReference] in
            guard case .usb(let vendor, let product, let serial) = reference else { return [] }
            let model = CardReference.usb(vendor: vendor, product: product, serial: nil)
            return serial.map(isPlausible) == true ? [reference, model] : [model]
        }
        return models + card.references.filter { if case .path = $0 { true } else { false } }
    }

    /// Whether a serial number is plausible: a manufacturer that does not number its devices leaves zeros.
    static func isPlausible(_ serial: String) -> Bool {
        serial.contains { ($0.isLetter || $0.isNumber) && $0 != "0" }
    }

    /// The card that was open once and is expected back, or nil if it is not among `cards`.
    ///
    /// It must have the same model, and match the identity; if the identity is a port, the same vendor, product and
    /// serial numbers also match. It may be in any port, but must not be one of the neighbours. The order of preference
    /// is: a card with exactly that identity, then one in the port where the card was, then the first by name.
    /// - Parameters:
    ///   - expected: the references that the card had when it was open, the identity first (`CaptureGrant.references`).
    ///   - neighbours: the cards that were present then.
    static func find(
        _ expected: [CardReference], besides neighbours: CardNeighbours, among cards: [CardDescription]
    ) -> CardDescription? {
        guard let identity = expected.first else { return nil }
        let same = cards.filter { card in
            (card.matches(identity) || hasSameNumbers(card, expected)) && isSameModel(card, expected)
                && mayBe(card, expected, besides: neighbours)
        }
        func rank(_ card: CardDescription) -> (Int, Int, String) {
            (
                card.references.contains(identity) ? 0 : 1, isInItsPort(card, expected) ? 0 : 1,
                card.stableID.description
            )
        }
        return same.min { rank($0) < rank($1) }
    }

    /// Whether a card may be the expected one: it is in the port of that card, or was connected later.
    static func mayBe(
        _ card: CardDescription, _ expected: [CardReference], besides neighbours: CardNeighbours
    ) -> Bool {
        expected.isEmpty || isInItsPort(card, expected) || !neighbours.contains(card)
    }

    private static func isInItsPort(_ card: CardDescription, _ expected: [CardReference]) -> Bool {
        expected.contains(card.stay.place)
    }

    /// Whether the identity is a port and the card has the vendor, product and serial numbers of the expected one.
    private static func hasSameNumbers(_ card: CardDescription, _ expected: [CardReference]) -> Bool {
        guard case .path? = expected.first else { return false }
        return expected.contains { name in
            if case .usb = name { card.references.contains(name) } else { false }
        }
    }

    /// Whether a card has the model of the expected one: another model in the same port is another card.
    private static func isSameModel(_ card: CardDescription, _ expected: [CardReference]) -> Bool {
        expected.allSatisfy { name in
            guard case .usb(let vendor, let product, _) = name else { return true }
            return card.matches(.usb(vendor: vendor, product: product, serial: nil))
        }
    }
}
