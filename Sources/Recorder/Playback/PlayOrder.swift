package import TakeFiles
package import Takes

package enum PlayOrder: Sendable {
    case begin(PlayBegin)
    case pause
    case resume
    case skip(bySeconds: Double)
    case volume(Double)
    case pitch(cents: Int)
    case speed(Double, expands: Bool)
    case stop
    /// Monitor this whenever no take is played, or stop monitoring if nil.
    case monitor(MonitorRequest?)
}

package struct PlayBegin: Sendable {
    var take: TakeName
    var directory: TakesDirectory
    /// The requested playback card.
    var card: CardReference
    /// The card that records.
    var companion: CardReference?
    /// 0 to 1, a factor of the sample values.
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
