/// The lamps of the panel.
public enum Lamp: String, CaseIterable, Sendable {
    case record, play, upload, fault
    /// The only lamp of a kit: a recording shows before faults, then pairing, play, and what else upload shows.
    case all
}
