extension Sidecar {
    /// The card's gain from one frame on.
    ///
    /// As JSON `{"agc": false, "at_frame": 96000, "gain_db": 12.5}`.
    public struct GainChange: Codable, Hashable, Sendable {
        /// The frame that was sampled when the card's mixer confirmed the gain, to some hundredths of a second.
        public var atFrame: TakeFrame
        /// The capture gain that was read back, or null if the card has no such control.
        @ExplicitNull public var gainDB: Double?
        /// Whether automatic gain control was on, or null if the card has no such control.
        @ExplicitNull public var agc: Bool?

        public init(atFrame: TakeFrame, gainDB: Double?, agc: Bool?) {
            self.atFrame = atFrame
            self.gainDB = gainDB
            self.agc = agc
        }

        enum CodingKeys: String, CodingKey {
            case agc
            case atFrame = "at_frame"
            case gainDB = "gain_db"
        }
    }

    /// The gain and the automatic gain control after all changes.
    public var lastGain: (gainDB: Double?, agc: Bool?) {
        gain.last.map { ($0.gainDB, $0.agc) } ?? (gainDB, agc)
    }
}
