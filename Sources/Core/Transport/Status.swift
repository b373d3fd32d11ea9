public import Takes

/// The recorder's status, as `fieldfare status --json` and the control socket report it.
public struct Status: Codable, Equatable, Sendable {
    public var state: DeckState = .idle
    /// The stem of the take that is recorded or played.
    @ExplicitNull public var take: String?
    /// The stem of the take that play would play.
    @ExplicitNull public var selected: String?
    /// The number of frames recorded so far, or of the take that is played.
    public var frames: Int64 = 0
    /// `frames` in seconds.
    public var elapsedSeconds = 0.0
    /// The part of the recorded take that is safe on disk.
    public var syncedSeconds = 0.0
    /// The playback position, or null if nothing is played.
    @ExplicitNull public var positionSeconds: Double?
    /// The open card's rate, or null without a card.
    @ExplicitNull public var rateHz: Int?
    /// The open card's channels, or null without a card.
    @ExplicitNull public var channels: Int?
    /// The numbers of the captured channels of the card, in their order, counted from 1, or nil for all channels or
    /// without a card.
    public var channelsOfCard: [Int]?
    /// ALSA's name of the card's sample format, or null without a card.
    @ExplicitNull public var format: SampleFormat?
    /// The open card's stable id, or null without a card.
    @ExplicitNull public var card: String?
    /// The low-pass in force, or null if it is off.
    @ExplicitNull public var lowPassHz: Double?
    public var slopeDBPerOctave = 24
    /// The high-pass in force, or null if it is off.
    @ExplicitNull public var highPassHz: Double?
    /// The open card's capture gain, as read back when it was last set. Null if the card has no such control, or no
    /// card is open.
    @ExplicitNull public var gainDB: Double?
    /// The possible values of the gain.
    @ExplicitNull public var gainRangeDB: GainRange?
    /// Whether the open card's automatic gain control is on. Null if the card has no such control, or no card is open.
    @ExplicitNull public var agc: Bool?
    /// One entry for each channel.
    public var levelDBFS: [Level] = []
    /// Overruns of the card's buffer since the card was opened.
    public var xruns = 0
    /// Gaps in the recorded take.
    public var gaps = 0
    /// The folder for takes, or null while it is missing.
    @ExplicitNull public var directory: String?
    /// The free space in the folder for takes, including the space of the bin.
    @ExplicitNull public var freeBytes: Int64?
    /// The part of `freeBytes` that is in the bin, or null if the recorder has no bin and deletes permanently.
    public var binBytes: Int64?
    /// The number of takes in the bin.
    public var binTakes: Int?
    /// A recording ends before less than this is free.
    public var reserveBytes: Int64 = 0
    /// The remaining recording time at the open card's format, in whole seconds, or null without a card.
    @ExplicitNull public var timeLeftSeconds: Double?
    /// How long `record` still continues the take that was stopped last, or nil if it would begin a new take.
    public var rejoinSecondsLeft: Double?
    /// The playing volume, from 0 to 1, or nil from an older recorder, which does not report it.
    public var volume: Double?
    /// The pitch of playback, in hundredths of a semitone above the recording.
    public var pitchCents = 0
    /// The seconds of a take that are played in one second.
    public var speed = 1.0
    /// Whether the pitch follows the speed.
    public var expand = false
    /// The source of the date and time.
    public var clock: ClockOrigin = .unset
    /// The current faults, lowest code first.
    public var faults: [Fault] = []
    /// Whether a press of record would record at once.
    public var armed = false
    /// Whether phones may be paired now, because play was held, or back and forward.
    @FalseUnlessSent public var pairing = false
    /// The current hours of the schedule, or the next ones. Null without a schedule, or if the clock is not set.
    @ExplicitNull public var scheduled: Hours?
    /// The permanent id of the kit, or null if the kit could not keep a key.
    @ExplicitNull public var kitID: KitID?
    public var version: String

    /// An interval of the schedule.
    public struct Hours: Codable, Hashable, Sendable {
        /// The start, as ISO 8601 in UTC.
        public var from: String
        /// The end, exclusive.
        public var until: String

        public init(from: String, until: String) {
            self.from = from
            self.until = until
        }
    }

    public init(version: String) {
        self.version = version
    }

    enum CodingKeys: String, CodingKey {
        case state, take, selected, frames, channels, format, card, xruns, gaps, clock, faults, armed, pairing,
            scheduled, version, volume, speed, expand, directory, agc
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
        case rejoinSecondsLeft = "rejoin_seconds_left"
    }
}
