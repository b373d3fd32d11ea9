/// The lamps of the panel.
public enum Lamp: String, CaseIterable, Sendable {
    case record, play, upload, fault
    /// The only lamp of a kit: record beats fault beats play beats upload.
    case all
}
