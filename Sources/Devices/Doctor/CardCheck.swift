import Ring
import SoundCard
import Takes

/// Checks whether the card of the settings is present, free, and runs as requested.
struct CardCheck {
    var request: CaptureRequest
    var cards: [CardReport]
    /// The grant of the open card, or nil if no card is open.
    var grant: CaptureGrant?
    /// Why no card is open.
    var failure: String?
    /// Overruns of the card's buffer since it was opened.
    var overruns = 0
    /// The measured rate of the card, or nil if it is not known.
    var rate: RateMeasure?
    /// The requested length of sound before the press.
    var preRoll = Duration.zero
    /// The memory of the machine.
    var memoryBytes = Ring.machineMemoryBytes
    /// Warnings that are reported under rights.
    var warningsElsewhere: [String] = []

    var findings: [Finding] {
        guard let grant else {
            return [.failure(.card, absence, exitStatus: isHeld ? Verdict.busy : 74, ["cards": .count(cards.count)])]
        }
        var found: [Finding] = []
        let card = report(of: grant)
        let figures = figures(grant, card)
        let format = grant.format
        let runs =
            "\(grant.card): \(grant.name): \(grant.summary)"
        let doubts = card.map { CardDoubts(open: $0, request: request.card, cards: cards).sentences } ?? []
        found += doubts.map { .warning(.card, "\(runs): \($0)", figures) }
        if let rate = request.rateHz, rate != format.rateHz {
            found.append(
                .failure(.card, "\(runs): \(rate) Hz was requested: set capture.rate_hz to a rate it has", figures))
        }
        if let channels = request.channels, !channels.isMet(by: grant.layout) {
            found.append(
                .failure(
                    .card, "\(runs): the settings ask for \(channels): set capture.channels to a number it has", figures
                ))
        }
        if let rate, rate.isWrong {
            found.append(.failure(.card, "\(runs): \(rate.complaint)", figures))
        }
        if overruns > 0 {
            found.append(
                .warning(
                    .card,
                    "\(runs): \(overruns) overruns since it was opened: frames were lost: use a faster machine or a lower rate",
                    figures))
        }
        if let shortage = PreRollCheck(preRoll: preRoll, format: format, memoryBytes: memoryBytes).shortage {
            found.append(.warning(.card, shortage, figures))
        }
        for warning in grant.warnings where !warningsElsewhere.contains(warning) {
            found.append(.warning(.card, warning, figures))
        }
        guard found.isEmpty else { return found }
        return [.ok(.card, runs + offers(of: card), figures)]
    }

    /// The report of the open card. Its id may have changed if a second card of its model was connected.
    private func report(of grant: CaptureGrant) -> CardReport? {
        cards.first { grant.references.contains(.cardID($0.card)) } ?? cards.first { $0.id == grant.card }
    }

    private var absence: String {
        failure ?? "capture: \(request.card): is not open"
    }

    /// Whether another program holds a card that the request may mean.
    private var isHeld: Bool {
        cards.contains { $0.busyBy != nil && $0.isMeant(by: request) }
    }

    private func offers(of card: CardReport?) -> String {
        guard let card, !card.ratesHz.isEmpty else { return "" }
        let formats = card.formats.map(\.rawValue).joined(separator: " ")
        return " (\(card.kind.rawValue); it has \(card.ratesHz.map(String.init).joined(separator: " ")) Hz, \(formats))"
    }

    private func figures(_ grant: CaptureGrant, _ card: CardReport?) -> [String: Figure] {
        [
            "card": .text(grant.card), "kind": card.map { .text($0.kind.rawValue) } ?? .unknown,
            "rate_hz": .count(grant.format.rateHz), "channels": .count(grant.format.channels),
            "format": .text(grant.format.sampleFormat.rawValue), "overruns": .count(overruns),
            "gain_db": grant.gain.gainDB.map { .number($0) } ?? .unknown, "cards": .count(cards.count),
            "rate_offset_ppm": rate.map { .number($0.offsetPPM.rounded()) } ?? .unknown,
        ]
    }
}
