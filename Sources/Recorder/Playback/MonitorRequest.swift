package import Live
package import Takes

/// The sound of the capture card, played on a card with headphones.
package struct MonitorRequest: Equatable, Sendable {
    package var source: LiveSource
    /// The requested playback card.
    package var card: CardReference
    /// The card that records.
    package var companion: CardReference?
    /// 0 to 1, a factor of the sample values.
    package var volume: Double

    package init(source: LiveSource, card: CardReference, companion: CardReference?, volume: Double) {
        self.source = source
        self.card = card
        self.companion = companion
        self.volume = volume
    }
}

package enum MonitorReport: Hashable, Sendable {
    /// A card plays. The text is for the log.
    case began(String)
    /// Monitoring failed; the text is one sentence. The monitor retries, and reports the same failure only once.
    case failed(String)
}
