package import TakeFiles
package import Takes

/// What the deck asks of the player.
package enum PlayOrder: Sendable {
    case begin(PlayBegin)
    case pause
    case resume
    case skip(bySeconds: Double)
    case volume(Double)
    case pitch(cents: Int)
    case speed(Double, expands: Bool)
    case stop
    /// Play this whenever no take is played; nil: nothing.
    case monitor(MonitorRequest?)
}

/// What the player needs to know to play a take.
package struct PlayBegin: Sendable {
    var take: TakeName
    var directory: TakesDirectory
    /// The card that is requested.
    var card: CardReference
    /// The card that records.
    var companion: CardReference?
    /// 0 to 1, a factor of the samples' values.
    var volume: Double
    var tuning: Tuning

    package init(
        take: TakeName, directory: TakesDirectory, card: CardReference, companion: CardReference?, volume: Double,
        tuning: Tuning
    ) {
        self.take = take
        self.directory = directory
        self.card = card
        self.companion = companion
        self.volume = volume
        self.tuning = tuning
    }
}
