public enum DeckState: String, Codable, Sendable, CaseIterable {
    case idle, recording, playing, paused
    /// Idle, and unable to arm.
    case fault
}

public enum Button: String, Codable, Sendable, CaseIterable {
    case record, stop, play, back, forward
}
