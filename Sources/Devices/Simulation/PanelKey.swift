/// The meaning of a keyboard key.
public enum PanelKey: String, Hashable, Sendable, CaseIterable {
    // The panel's buttons, with the same names.
    case record, stop, play, back, forward
    case mark
    case quit
}
