/// The text and figures that the panel in the terminal shows next to its lamps.
public struct PanelReadout: Hashable, Sendable {
    /// The card and its format.
    public var title = ""
    /// The recorder's state and the take.
    public var state = ""
    /// The time in the take, or empty if the recorder is idle.
    public var time = ""
    /// One entry for each channel.
    public var levels: [Level] = []
    /// The problem that the fault lamp flashes, in one sentence, or empty without a problem.
    public var trouble = ""

    /// The level of one channel in dBFS, or nil for silence.
    public struct Level: Hashable, Sendable {
        public var peak: Double?
        public var rms: Double?

        public init(peak: Double?, rms: Double?) {
            self.peak = peak
            self.rms = rms
        }
    }

    public init() {}
}
