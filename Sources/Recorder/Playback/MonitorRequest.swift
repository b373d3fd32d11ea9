package import Live
package import Takes

/// What is monitored: the sound of the capture card, on a card with headphones.
package struct MonitorRequest: Equatable, Sendable {
    /// What is captured.
    package var source: LiveSource
    /// The card that is requested.
    package var card: CardReference
    /// The card that records.
    package var companion: CardReference?
    /// 0 to 1, a factor of the samples' values.
    package var volume: Double

    /// What is monitored, and where.
    package init(source: LiveSource, card: CardReference, companion: CardReference?, volume: Double) {
        self.source = source
        self.card = card
        self.companion = companion
        self.volume = volume
    }
}

/// What the player reports of monitoring.
package enum MonitorReport: Hashable, Sendable {
    /// A card plays; in words, for the log.
    case began(String)
    /// It cannot be done now, one sentence says why. It is tried again; what fails in the same way is reported once.
    case failed(String)
}
