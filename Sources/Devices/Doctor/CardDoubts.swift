package import SoundCard
package import Takes

/// Reasons to doubt that the open card is the one that the settings mean.
package struct CardDoubts {
    private let open: CardReport
    private let request: CardReference
    private let cards: [CardReport]

    /// - Parameters:
    ///   - open: the recording card.
    ///   - request: the card's name in the settings.
    ///   - cards: all present cards.
    package init(open: CardReport, request: CardReference, cards: [CardReport]) {
        self.open = open
        self.request = request
        self.cards = cards
    }

    package var sentences: [String] { worse + [ambiguous].compactMap(\.self) }

    /// Returns a sentence for each better card that is present, with the reason why it was not chosen. If no better
    /// card is present and the open card is not a microphone, one sentence reports that.
    private var worse: [String] {
        guard request == .automatic else { return [] }
        let better = cards.filter { $0.captures && $0.kind < open.kind }.sorted { ($0.kind, $0.id) < ($1.kind, $1.id) }
        if better.isEmpty, !open.kind.isMicrophone {
            return [
                "this is not a microphone (\(open.kind.rawValue)), taken because nothing better is there: plug in a sound card"
            ]
        }
        let next = better.first { $0.busyBy == nil && $0.error == nil }
        return better.compactMap { card in
            let name = "\(card.id) \"\(card.name)\" is better, and"
            if let owner = card.busyBy {
                return "\(name) is held by \(owner): end that, or name the card in capture.card"
            }
            if let error = card.error {
                return "\(name) cannot be used (\(error)): unplug it and plug it in to retry"
            }
            guard card.id == next?.id else { return nil }
            return "\(name) takes its place while nothing is recorded, played, or may go on after its stop"
        }
    }

    /// Returns a sentence if another card also fits the settings and only its port differs; otherwise nil.
    private var ambiguous: String? {
        switch request {
        case .path, .cardID, .pcm: return nil
        case .automatic, .usb: break
        }
        let numbers = Set(open.names.filter { $0.hasPrefix("usb:") })
        let twin = cards.first { $0.captures && $0.card != open.card && !numbers.isDisjoint(with: $0.names) }
        guard let twin, open.id.hasPrefix("path:") else { return nil }
        return
            "\(twin.id) \"\(twin.name)\" is of the same model, and only the port tells them apart: name the port in capture.card"
    }
}
