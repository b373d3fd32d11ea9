import TakeFiles
package import Takes

/// What the deck asks of the player.
package enum PlayOrder: Sendable {
    case begin(PlayBegin)
    case pause
    case resume
    case skip(bySeconds: Double)
    case volume(Double)
    case stop
    case quit
}

/// What the player needs to know to play a take.
package struct PlayBegin: Sendable {
    var take: TakeName
    var directory: TakesDirectory
    /// The card that is wanted.
    var card: CardReference
    /// The card that records.
    var companion: CardReference?
    /// 0 to 1, a factor of the samples' values.
    var volume: Double
}

/// What the player tells the deck.
package enum PlayOutcome: Sendable {
    /// The take is open, and its first frames are queued.
    case began(PlayFacts)
    /// The next pause, resume, skip or volume was carried out.
    case done
    /// There is nothing to be heard any more. `failure`: why it ended early.
    case ended(at: Instant, failure: PlayFailure?)
}

/// What is known of a take once it is open.
package struct PlayFacts: Sendable {
    var frames: Int64
    var seconds: Double
    /// In words, for the log.
    var summary: String
}

/// Why a take could not be played, or not to its end.
package struct PlayFailure: Sendable {
    var message: String
    /// Whether nothing was heard because the card that records may be in the way.
    var isCardInUse: Bool
}

/// Where the playing is.
struct PlayProgress: Sendable {
    /// Seconds into the take, at an instant.
    var seconds: Double
    var at: Instant
    /// Whether it moves on from there.
    var isMoving: Bool
    /// The take's length.
    var total: Double

    /// Seconds into the take.
    func seconds(at now: Instant) -> Double {
        isMoving ? min(total, seconds + max(0, (now - at).inSeconds)) : seconds
    }
}
