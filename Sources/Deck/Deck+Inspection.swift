public import Ring

// What a check-up may see of the deck; it changes nothing.
extension Deck {
    /// What the open card granted; nil: none is open.
    public var openGrant: CaptureGrant? { input?.grant }

    /// The ring that the open card is heard in; nil: none is open.
    public var openRing: Ring? { input?.ring }

    /// Whether the card is kept open while idle.
    public var keepsListening: Bool { options.isListening }

    /// Whether a take is being recorded, or brought to its end.
    public var isRecording: Bool {
        if case .recording = phase { true } else { false }
    }

    /// Whether a take is being played, or is paused.
    public var isPlaying: Bool {
        if case .playing = phase { true } else { false }
    }
}
