public import Takes

/// Which of the cards that are there a recording is made from: pure rules.
public enum CardChoice {
    /// The card that `reference` names and that captures; nil if there is none.
    ///
    /// `auto` takes a USB card, then a HAT, then what else is real; HDMI, a loopback or a dummy only while nothing else is
    /// there. Of several that are as good, the one whose stable id sorts first, so that every boot takes the same.
    public static func choose(_ reference: CardReference, among cards: [CardDescription]) -> CardDescription? {
        let capturing = cards.filter { !$0.captureDevices.isEmpty }
        switch reference {
        case .automatic:
            return capturing.min { order($0) < order($1) }
        case .path, .usb, .cardID:
            // One of that very name before one that has a serial number besides.
            let exact = capturing.filter { $0.references.contains(reference) }
            return (exact.isEmpty ? capturing.filter { $0.matches(reference) } : exact).min { order($0) < order($1) }
        case .pcm:
            return nil
        }
    }

    /// Why `choose` found none, in one sentence.
    static func absence(of reference: CardReference, among cards: [CardDescription]) -> SoundCardError {
        let there = cards.sorted { order($0) < order($1) }.map { card in
            "\(card.stableID) \"\(card.name)\"" + (card.captureDevices.isEmpty ? " (plays only)" : "")
        }
        let list = there.isEmpty ? "no card is there" : "there are: \(there.joined(separator: ", "))"
        let isThere = cards.contains { $0.matches(reference) }
        return SoundCardError(
            "\(reference)", "find the card",
            reason: isThere
                ? "it is there and does not capture"
                : reference == .automatic
                    ? "nothing that is connected captures" : "it is not connected",
            detail: list)
    }

    private static func order(_ card: CardDescription) -> (CardKind, String) {
        (card.kind, card.stableID.description)
    }
}
