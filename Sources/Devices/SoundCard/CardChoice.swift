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
    /// reference comes from the settings and is used as it is: each card that it names will do, the expected one first, but none
    /// that was there beside that.
    /// - Parameters:
    ///   - companion: the card that records, when a card to play on is chosen.
    public static func choose(
        _ reference: CardReference, for direction: PCMDirection = .capture, beside companion: CardReference? = nil,
        among cards: [CardDescription]
    ) -> CardDescription? {
        choose(reference, for: direction, beside: companion, expecting: [], besides: CardNeighbours(), among: cards)
    }

    /// - Parameters:
    ///   - expected: the names of the card that is expected back (`CaptureGrant.references`); empty: none is.
    ///   - neighbours: the cards that were there beside that.
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
            // A card with exactly this name before one that has a serial number as well.
            let exact = named.filter { $0.references.contains(reference) }
            return (exact.isEmpty ? named : exact).min { order($0) < order($1) }
        case .pcm:
            return nil
        }
    }

    /// The cards that `auto` tries to record from, the one to try first first: those that were refused least, then the best. No card
    /// that is no microphone takes a microphone's place.
    static func candidates(among cards: [CardDescription], after refusals: CardRefusals) -> [CardDescription] {
        let able = cards.filter { $0.captureDevice != nil }
        let microphones = able.filter(\.kind.isMicrophone)
        return inOrder(microphones.isEmpty ? able : microphones, after: refusals)
    }

    /// The cards that `auto` would record from rather than from one that is open, the one to try first first: those of a better kind,
    /// unless they were refused too often. One that is as good takes no other's place.
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

    /// Whether `auto` prefers a card to another one as long as none was refused.
    static func prefers(_ card: CardDescription, to other: CardDescription) -> Bool { order(card) < order(other) }

    /// Why `choose` found none, in one sentence.
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
