package import Takes

package enum PlayOutcome: Sendable {
    /// The take is open, and its first frames are queued.
    case began(PlayFacts)
    /// The playback position. It is posted quietly: the deck gets it with the next outcome, or when it asks.
    case progress(PlayProgress)
    /// The next pause, resume, skip, volume, pitch or speed was carried out.
    case done
    /// The card has stopped playing. `position` is the number of seconds of the take that were played, and `failure`
    /// says why it ended early.
    case ended(at: Instant, position: Double, failure: PlayFailure?)
    /// The monitor plays, or failed.
    case monitor(MonitorReport)
}

package struct PlayFacts: Sendable {
    /// Frames of all parts, counted at the rate of the first.
    package var frames: Int64
    /// The take's length.
    package var seconds: Double
    /// For the log.
    package var summary: String
}

package struct PlayFailure: Sendable {
    /// One sentence.
    package var message: String
    /// Whether the card could not be opened because it is in use, perhaps by the recording.
    package var isCardInUse: Bool
}
