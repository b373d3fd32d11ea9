/// What a person asked for at the buttons that another program has to do.
public enum PanelWish: String, Codable, Hashable, Sendable {
    /// Takes are to be sent to the stick that is in.
    case adoptStick = "adopt-stick"
}
