public import Takes

/// What the recorder is doing, as `fieldfare status --json` and the control socket report it.
public struct Status: Codable, Equatable, Sendable {
    /// What the deck is doing.
    public var state: DeckState = .idle
    /// The stem of the take that is recorded or played.
    @ExplicitNull public var take: String?
    /// The stem of the take that play would play.
    @ExplicitNull public var selected: String?
    /// Frames of the take so far, or of the take that is played.
    public var frames: Int64 = 0
    /// `frames` in seconds.
    public var elapsedSeconds = 0.0
    /// How much of the take that is recorded is safe on disk.
    public var syncedSeconds = 0.0
    /// Where playback is; null when nothing plays.
    @ExplicitNull public var positionSeconds: Double?
    /// The open card's rate; null without a card.
    @ExplicitNull public var rateHz: Int?
    /// The open card's channels; null without a card.
    @ExplicitNull public var channels: Int?
    /// The numbers of the card's channels that are captured, in their order, from 1; nil: all of them, or no card is open.
    public var channelsOfCard: [Int]?
    /// ALSA's name of the format that the card delivers; null without a card.
    @ExplicitNull public var format: SampleFormat?
    /// The open card's stable id; null without a card.
    @ExplicitNull public var card: String?
    /// The low-pass in force; null: off.
    @ExplicitNull public var lowPassHz: Double?
    /// The filters' slope.
    public var slopeDBPerOctave = 24
    /// The high-pass in force; null: off.
    @ExplicitNull public var highPassHz: Double?
    /// The open card's capture gain, as it was read back when it was last set; null: it has none, or none is open.
    @ExplicitNull public var gainDB: Double?
    /// What that can be set to.
    @ExplicitNull public var gainRangeDB: GainRange?
    /// Whether the open card's automatic gain control is on; null: it has none, or none is open.
    @ExplicitNull public var agc: Bool?
    /// One entry a channel.
    public var levelDBFS: [Level] = []
    /// Overruns of the card's buffer since the card was opened.
    public var xruns = 0
    /// Gaps in the take that is recorded.
    public var gaps = 0
    /// Where takes are kept; null while that is not there.
    @ExplicitNull public var directory: String?
    /// Free space where takes are kept; what is in the bin counts as free.
    @ExplicitNull public var freeBytes: Int64?
    /// How much of that is in the bin; null: this recorder has no bin, and deletes for good.
    public var binBytes: Int64?
    /// How many takes are in the bin.
    public var binTakes: Int?
    /// A recording ends before less than this is free.
    public var reserveBytes: Int64 = 0
    /// How long can be recorded at the open card's format, in whole seconds; null without a card.
    @ExplicitNull public var timeLeftSeconds: Double?
    /// The pitch that takes are played at, in hundredths of a semitone above that of the recording.
    public var pitchCents = 0
    /// Seconds of a take that are played in a second.
    public var speed = 1.0
    /// Whether the pitch follows the speed.
    public var expand = false
    /// Where the date and time came from.
    public var clock: ClockOrigin = .unset
    /// What is wrong, lowest code first.
    public var faults: [Fault] = []
    /// Whether pressing record would record at once.
    public var armed = false
    /// Whether phones may be paired now, since play was held, or back and forward.
    @FalseUnlessSent public var pairing = false
    /// The hours in which the kit records by itself: those that are now, else the next; null: none, or the clock is not set.
    @ExplicitNull public var scheduled: Hours?
    /// What the kit is known by, whatever its name; null: it has no key that it could keep.
    @ExplicitNull public var kitID: KitID?
    /// The version of Fieldfare.
    public var version: String

    /// From an instant up to another.
    public struct Hours: Codable, Hashable, Sendable {
        /// The first instant that is within, as ISO 8601 in UTC.
        public var from: String
        /// The first that is not.
        public var until: String

        /// The hours between two instants.
        public init(from: String, until: String) {
            self.from = from
            self.until = until
        }
    }

    /// An idle deck.
    public init(version: String) {
        self.version = version
    }

    enum CodingKeys: String, CodingKey {
        case state, take, selected, frames, channels, format, card, xruns, gaps, clock, faults, armed, pairing,
            scheduled, version, speed, expand, directory, agc
        case kitID = "kit_id"
        case elapsedSeconds = "elapsed_seconds"
        case syncedSeconds = "synced_seconds"
        case positionSeconds = "position_seconds"
        case channelsOfCard = "channels_of_card"
        case rateHz = "rate_hz"
        case lowPassHz = "low_pass_hz"
        case slopeDBPerOctave = "slope_db_per_octave"
        case highPassHz = "high_pass_hz"
        case gainDB = "gain_db"
        case gainRangeDB = "gain_range_db"
        case levelDBFS = "level_dbfs"
        case pitchCents = "pitch_cents"
        case freeBytes = "free_bytes"
        case binBytes = "bin_bytes"
        case binTakes = "bin_takes"
        case reserveBytes = "reserve_bytes"
        case timeLeftSeconds = "time_left_seconds"
    }
}
