public enum PCMDirection: Hashable, Sendable {
    case capture
    case playback

    /// The beginning of an error's sentence: `capture`, `play`.
    var heading: String {
        switch self {
        case .capture: "capture"
        case .playback: "play"
        }
    }

    /// The verb for the use of a card: `record`, `play`.
    var verb: String {
        switch self {
        case .capture: "record"
        case .playback: "play"
        }
    }

    /// The last letter of the PCM's name in `/dev/snd` and in `/proc/asound`.
    var letter: Character {
        switch self {
        case .capture: "c"
        case .playback: "p"
        }
    }
}
