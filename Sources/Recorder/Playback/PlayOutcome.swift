package import Takes

/// What the player reports to the deck.
package enum PlayOutcome: Sendable {
    /// The take is open, and its first frames are queued.
    case began(PlayFacts)
    /// Where the playing is. Posted quietly: it comes with the next outcome, or when the deck asks.
    case progress(PlayProgress)
    /// The next pause, resume, skip, volume, pitch or speed was carried out.
    case done
    /// The card plays nothing any more. `position`: how many seconds of the take were played. `failure`: why it ended early.
    case ended(at: Instant, position: Double, failure: PlayFailure?)
    /// The monitor plays, or cannot.
    case monitor(MonitorReport)
}

/// What is known of a take once it is open.
package struct PlayFacts: Sendable {
    /// Frames of all parts.
    package var frames: Int64
    /// The take's length.
    package var seconds: Double
    /// In words, for the log.
    package var summary: String
}

/// Why a take could not be played, or not to its end.
package struct PlayFailure: Sendable {
    /// One sentence.
    package var message: String
    /// Whether nothing was played because the card that records may be in the way.
    package var isCardInUse: Bool
}
