public enum Lamp: String, CaseIterable, Sendable {
    case record, play, upload, fault
    /// The only lamp of a kit. It shows a recording first, then faults, then pairing, play, and the other upload
    /// states.
    case all
}
