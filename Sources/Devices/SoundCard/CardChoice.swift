public import Takes

/// Pure rules that choose the card for recording or playback among the present cards.
public enum CardChoice {
    /// The card that `reference` names and that has a device for `direction`, or nil if no present card matches.
    ///
    /// `auto` prefers a USB card, then a HAT, then any other real card; HDMI, a loopback or a dummy is chosen only if
    /// no other card is present. Among equally good cards, the first by stable id is chosen, so that every boot chooses
    /// the same one. For playback, the recording card comes before all others if it can play.
    ///
    /// If a card is expected back, `auto` finds it in any port (see `CardIdentity`) and chooses no other card. Any
    /// other reference comes from the settings: every card that it names is acceptable, and the expected one is
    /// preferred. A card that was already present together with the expected one is not acceptable.
    /// - Parameters:
    ///   - companion: the recording card, when a card for playback is chosen.
    public static func choose(
        _ reference: CardReference, for direction: PCMDirection = .capture, beside companion: CardReference? = nil,
        among cards: [CardDescription]
    ) -> CardDescription? {
        choose(reference, for: direction, beside: companion, expecting: [], besides: CardNeighbours(), among: cards)
    }

    /// - Parameters:
    ///   - expected: the references of the card that is expected back (`CaptureGrant.references`), or empty if none is.
    ///   - neighbours: the cards that were present together with that card.
    static func choose(
        _ reference: CardReference, for direction: PCMDirection = .capture, beside companion: CardReference? = nil,
        expecting expected: [CardReference], besides neighbours: CardNeighbours = CardNeighbours(),
        among cards: [CardDescription]
    ) -> CardDescription? {
        let able = cards.filter { $0.device(for: direction) != nil }
        switch reference {
        case .automatic:
            if !expected.isEmpty { return CardIdentity.find(expected, besides: neighbours, among: able) }
            if direction == .playback, let companion, let recording = choose(companion, among: cards),
                recording.playbackDevice != nil
            {
                return recording
            }
            return able.min { order($0) < order($1) }
        case .path, .usb, .cardID:
            let named = able.filter {
                $0.matches(reference) && CardIdentity.mayBe($0, expected, besides: neighbours)
            }
            if let card = CardIdentity.find(expected, besides: neighbours, among: named) { return card }
            // A card with exactly this name precedes one that also has a serial number.
            let exact = named.filter { $0.references.contains(reference) }
            return (exact.isEmpty ? named : exact).min { order($0) < order($1) }
        case .pcm:
            return nil
        }
    }

    /// The cards that `auto` tries to record from, in order: those with the fewest refusals first, then the best. Other
    /// cards are used only if no microphone is present.
    static func candidates(among cards: [CardDescription], after refusals: CardRefusals) -> [CardDescription] {
        let able = cards.filter { $0.captureDevice != nil }
        let microphones = able.filter(\.kind.isMicrophone)
        return inOrder(microphones.isEmpty ? able : microphones, after: refusals)
    }

    /// The cards that `auto` prefers to the open card, in order. They are of a better kind and were not refused too
    /// often. An equally good card does not replace the open one.
    static func better(
        than open: CardKind, among cards: [CardDescription], after refusals: CardRefusals = CardRefusals()
    ) -> [CardDescription] {
        let better = cards.filter {
            $0.captureDevice != nil && $0.kind < open && refusals.count(of: $0.stay) < CardRefusals.most
        }
        return inOrder(better, after: refusals)
    }

    private static func inOrder(_ cards: [CardDescription], after refusals: CardRefusals) -> [CardDescription] {
        func rank(_ card: CardDescription) -> (Int, CardKind, String) {
            (refusals.count(of: card.stay), card.kind, card.stableID.description)
        }
        return cards.sorted { rank($0) < rank($1) }
    }

    /// Whether `auto` prefers `card` to `other` if neither was refused.
    static func prefers(_ card: CardDescription, to other: CardDescription) -> Bool { order(card) < order(other) }

    /// Why `choose` found no card, in one sentence.
    static func absence(
        of reference: CardReference, for direction: PCMDirection = .capture, expecting expected: [CardReference] = [],
        besides neighbours: CardNeighbours = CardNeighbours(), among cards: [CardDescription]
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
            ? CardIdentity.find(expected, besides: neighbours, among: cards) != nil
            : cards.contains { $0.matches(reference) && CardIdentity.mayBe($0, expected, besides: neighbours) }
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
