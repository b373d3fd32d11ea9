public import Takes

/// Which of the cards that are present a recording is made from, or a take is played on: pure rules.
public enum CardChoice {
    /// The card that `reference` names and that captures or plays; nil if there is none.
    ///
    /// `auto` takes a USB card, then a HAT, then any other real card; HDMI, a loopback or a dummy only while no other is
    /// present. Of several that are as good, the one whose stable id sorts first, so that every boot takes the same. For playback
    /// the card that records comes before all of them, if it plays.
    ///
    /// A card that is expected back is found again in any port (see `CardIdentity`), and `auto` takes no other card. Any other
    /// reference comes from the settings and is used as it is: each card that it names will do, the expected one first.
    /// - Parameters:
    ///   - companion: the card that records, when a card to play on is chosen.
    ///   - expected: the names of the card that is expected back (`CaptureGrant.references`); empty: none is.
    public static func choose(
        _ reference: CardReference, for direction: PCMDirection = .capture, beside companion: CardReference? = nil,
        expecting expected: [CardReference] = [], among cards: [CardDescription]
    ) -> CardDescription? {
        let able = cards.filter { $0.device(for: direction) != nil }
        switch reference {
        case .automatic:
            if !expected.isEmpty { return CardIdentity.find(expected, among: able) }
            if direction == .playback, let companion, let recording = choose(companion, among: cards),
                recording.playbackDevice != nil
            {
                return recording
            }
            return able.min { order($0) < order($1) }
        case .path, .usb, .cardID:
            let named = able.filter { $0.matches(reference) }
            if let card = CardIdentity.find(expected, among: named) { return card }
            // A card with exactly this name before one that has a serial number as well.
            let exact = named.filter { $0.references.contains(reference) }
            return (exact.isEmpty ? named : exact).min { order($0) < order($1) }
        case .pcm:
            return nil
        }
    }

    /// Why `choose` found none, in one sentence.
    static func absence(
        of reference: CardReference, for direction: PCMDirection = .capture, expecting expected: [CardReference] = [],
        among cards: [CardDescription]
    ) -> SoundCardError {
        let words =
            switch direction {
            case .capture: (does: "captures", infinitive: "capture", other: "plays")
            case .playback: (does: "plays", infinitive: "play", other: "captures")
            }
        let there = cards.sorted { order($0) < order($1) }.map { card in
            "\(card.stableID) \"\(card.name)\"" + (card.device(for: direction) == nil ? " (\(words.other) only)" : "")
        }
        let list = there.isEmpty ? "no card is there" : "there are: \(there.joined(separator: ", "))"
        let wanted = reference == .automatic ? expected.first ?? reference : reference
        let isThere =
            reference == .automatic
            ? CardIdentity.find(expected, among: cards) != nil : cards.contains { $0.matches(reference) }
        return SoundCardError(
            "\(wanted)", "find the card",
            reason: isThere
                ? "it is there and does not \(words.infinitive)"
                : wanted == .automatic
                    ? "nothing that is connected \(words.does)" : "it is not connected",
            detail: list, direction: direction)
    }

    private static func order(_ card: CardDescription) -> (CardKind, String) {
        (card.kind, card.stableID.description)
    }
}
