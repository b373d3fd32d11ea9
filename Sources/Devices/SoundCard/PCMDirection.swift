/// Which way sound goes through a PCM.
public enum PCMDirection: Hashable, Sendable {
    /// From the card.
    case capture
    /// To the card.
    case playback

    /// How an error's sentence begins: `capture`, `play`.
    var heading: String {
        switch self {
        case .capture: "capture"
        case .playback: "play"
        }
    }

    /// What is done with a card: `record`, `play`.
    var verb: String {
        switch self {
        case .capture: "record"
        case .playback: "play"
        }
    }

    /// The letter that ends the name of such a PCM in `/dev/snd` and in `/proc/asound`.
    var letter: Character {
        switch self {
        case .capture: "c"
        case .playback: "p"
        }
    }
}
