/// The lamps of the panel.
public enum Lamp: String, CaseIterable, Sendable {
    case record, play, upload, fault
    /// The only lamp of a kit: a recording shows before faults, then play, then upload.
    case all
}
