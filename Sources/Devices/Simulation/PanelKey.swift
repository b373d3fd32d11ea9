/// What a key of the keyboard stands for.
public enum PanelKey: String, Hashable, Sendable, CaseIterable {
    // The panel's buttons, under their names.
    case record, stop, play, back, forward
    /// Drops a marker.
    case mark
    /// Ends the recorder.
    case quit
}
