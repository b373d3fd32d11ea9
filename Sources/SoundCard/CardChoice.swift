public import Takes

/// Which of the cards that are there a recording is made from, or a take is played on: pure rules.
public enum CardChoice {
    /// The card that `reference` names and that captures or plays; nil if there is none.
    ///
    /// `auto` takes a USB card, then a HAT, then what else is real; HDMI, a loopback or a dummy only while nothing else is
    /// there. Of several that are as good, the one whose stable id sorts first, so that every boot takes the same. For playback
    /// the card that records comes before all of them, if it plays.
    /// - Parameter companion: the card that records, when one that plays is looked for.
    public static func choose(
        _ reference: CardReference, for direction: PCMDirection = .capture, beside companion: CardReference? = nil,
        among cards: [CardDescription]
    ) -> CardDescription? {
        let able = cards.filter { $0.device(for: direction) != nil }
        switch reference {
        case .automatic:
            if direction == .playback, let companion, let recording = choose(companion, among: cards),
                recording.playbackDevice != nil
            {
                return recording
            }
            return able.min { order($0) < order($1) }
        case .path, .usb, .cardID:
            // One of that very name before one that has a serial number besides.
            let exact = able.filter { $0.references.contains(reference) }
            return (exact.isEmpty ? able.filter { $0.matches(reference) } : exact).min { order($0) < order($1) }
        case .pcm:
            return nil
        }
    }

    /// Why `choose` found none, in one sentence.
    static func absence(
        of reference: CardReference, for direction: PCMDirection = .capture, among cards: [CardDescription]
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
        let isThere = cards.contains { $0.matches(reference) }
        return SoundCardError(
            "\(reference)", "find the card",
            reason: isThere
                ? "it is there and does not \(words.infinitive)"
                : reference == .automatic
                    ? "nothing that is connected \(words.does)" : "it is not connected",
            detail: list, direction: direction)
    }

    private static func order(_ card: CardDescription) -> (CardKind, String) {
        (card.kind, card.stableID.description)
    }
}
