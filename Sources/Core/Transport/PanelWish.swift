/// A request from the buttons that another program must carry out.
public enum PanelWish: String, Codable, Hashable, Sendable {
    /// Send takes to the inserted stick.
    case adoptStick = "adopt-stick"
}
