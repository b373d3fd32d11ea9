/// What the panel in the terminal shows in words and figures, beside its lamps.
public struct PanelReadout: Hashable, Sendable {
    /// Which card it is and what it runs at.
    public var title = ""
    /// What the recorder does, and with which take.
    public var state = ""
    /// How far it is; empty while it does nothing.
    public var time = ""
    /// One entry a channel.
    public var levels: [Level] = []
    /// What the fault lamp flashes, a sentence; empty: nothing is wrong.
    public var trouble = ""

    /// How loud one channel is, in dBFS; nil: silent.
    public struct Level: Hashable, Sendable {
        /// The greatest sample.
        public var peak: Double?
        /// The root of the mean square.
        public var rms: Double?

        /// A channel's levels.
        public init(peak: Double?, rms: Double?) {
            self.peak = peak
            self.rms = rms
        }
    }

    /// Nothing to show.
    public init() {}
}
