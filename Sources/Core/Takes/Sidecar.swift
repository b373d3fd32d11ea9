/// The metadata of a take, stored in the file `STEM.json`. Its appearance commits the take.
public struct Sidecar: Codable, Equatable, Sendable {
    /// 1. Readers ignore unknown keys.
    public var schema = 1
    /// 1, incremented with each change.
    public var revision = 1
    /// The stem that all of the take's files share.
    public var take: String
    public var number: Int
    /// The name that the recording kit had at that time.
    public var kit: String
    /// The permanent id of that kit. Null if the version did not store it, the kit could not keep a key, or the sidecar
    /// was rebuilt from the sound.
    @ExplicitNull public var kitID: KitID?
    /// When the first frame was sampled: ISO 8601, UTC, microseconds.
    public var started: String
    /// The same time by a clock that was set later, or null if none was.
    @ExplicitNull public var startedCorrected: String?
    /// When the first frame was sampled, on `CLOCK_MONOTONIC`, in nanoseconds.
    public var startedMonotonicNs: Int64
    /// The kernel's `boot_id` of the boot that the monotonic time belongs to.
    public var bootID: String
    /// The source of `started`.
    public var clock: ClockOrigin
    /// Null during the recording.
    @ExplicitNull public var endedBy: Ending?
    /// Null in sidecars of versions that did not note it.
    @ExplicitNull public var startedBy: Start?
    /// Whether recovery completed the take after an interruption.
    public var recovered = false
    public var parts: [Part]
    /// The frames of all parts, converted to the take's rate, since a part may have another rate. Versions up to 0.1.0
    /// added the unconverted lengths of the parts.
    public var frames: Int64
    /// The length of all parts together.
    public var durationSeconds: Double
    /// The card's stable id.
    public var card: String
    public var rateHz: Int
    public var channels: Int
    /// The numbers of the recorded channels of the card, in their order, counted from 1, or nil for all channels.
    public var channelsOfCard: [Int]?
    /// ALSA's name of the card's sample format.
    public var format: SampleFormat
    /// The filter at the start, and each change.
    public var filter: [FilterChange]
    /// The lost frames, which are silent in the file, in order. `SidecarLedger` limits their number.
    public var gaps: [Gap] = []
    /// The marked places, in the order in which they were noted.
    public var markers: [Marker] = []
    /// The frames from before the button was pressed.
    public var preRollFrames: Int64
    /// One entry for each channel.
    public var levels: [Levels] = []
    /// The card's capture gain at the start, or null if the card has no such control.
    @ExplicitNull public var gainDB: Double?
    /// Whether automatic gain control was on at the start, or null if the card has no such control.
    @ExplicitNull public var agc: Bool?
    /// Each change of the gain or of automatic gain control during the take, in order.
    @EmptyIfMissing public var gain: [GainChange]
    /// How much faster than `CLOCK_MONOTONIC_RAW` the card ran, in millionths, or null if it ran for too short a time.
    @ExplicitNull public var clockDriftPPM: Double?
    /// The sampling times of some frames, at least one every 60 s; fewer in takes of more than a day.
    @EmptyIfMissing public var clockMap: [ClockPoint]
    /// The places where the card's frames lag behind the clock. They are only suspected: the sound there is unchanged.
    @EmptyIfMissing public var suspectedLosses: [SuspectedLoss]
    /// The format that its files must still be converted to ("flac"), or null if they are in their final format.
    @ExplicitNull public var pendingFormat: String?
    /// True if a person restored the take from the bin; otherwise nil. The library keeps such a take until it needs the
    /// space.
    public var restored: Bool?
    public var version: String

    public enum Ending: String, Codable, Sendable {
        case stop, shutdown
        /// The longest time that the settings allow.
        case limit
        /// Another take continues with the next frame.
        case next
        case diskFull = "disk-full"
        case storageError = "storage-error"
        case cardLost = "card-lost"
        case powerCut = "power-cut"
        case crash, unknown
    }

    public enum Start: String, Codable, Sendable {
        case button, command, schedule
    }

    public struct Part: Codable, Equatable, Sendable {
        /// The file's name, in the folder of the sidecar.
        public var file: String
        /// The name of the unfiltered twin, or null without one.
        @ExplicitNull public var unfilteredFile: String?
        /// The position of its first frame in the take.
        public var firstFrame: TakeFrame
        public var frames: Int64
        /// The length of the unfiltered twin in frames if it differs from `frames`, after an interruption, a change by
        /// another program or a disk error; otherwise nil.
        public var unfilteredFrames: Int64?
        public var rateHz: Int
        /// ALSA's name of the card's sample format.
        public var format: SampleFormat
        /// The bits of a sample that carry signal if the card has fewer than its format; otherwise nil. The file of an
        /// `S32_LE` part with at most 24 such bits stores 24 bits.
        public var significantBits: Int?
        /// The stable id of the card that recorded it. Nil in sidecars of versions that stored it only for the whole
        /// take.
        public var card: String?
        /// The card's USB port, such as `1-1.4`. Nil if the card was not in a USB port, or the version did not store
        /// it.
        public var port: String?
        /// The hash of the whole file, added by the library.
        @ExplicitNull public var sha256: String?
        /// The hash of the whole unfiltered twin, added by the library.
        @ExplicitNull public var unfilteredSHA256: String?
        /// The fingerprint of its sound: SHA-256 of the samples as they are stored (the content of the chunk `data`),
        /// hexadecimal. A conversion to FLAC does not change it. Null during the recording of the part, or if the
        /// version did not compute it.
        @ExplicitNull public var soundSHA256: String?
        /// The fingerprint of the unfiltered twin's sound.
        @ExplicitNull public var unfilteredSoundSHA256: String?
        /// When the fingerprints were computed, or null without them.
        @ExplicitNull public var fingerprint: Fingerprint?
        /// SHA-256 of a whole file that a person accepted although its sound differs from the recording; added by the
        /// library. "missing" means that the person accepted the loss of the file. Otherwise nil.
        public var acceptedSHA256: String?
        /// The same for the unfiltered twin.
        public var acceptedUnfilteredSHA256: String?

        public enum Fingerprint: String, Codable, Sendable {
            /// During the recording, from the samples that were passed to the storage.
            case capture
            /// Later, from the file. Damage before that time is unknown.
            case later
        }

        public init(
            file: String, unfilteredFile: String? = nil, firstFrame: TakeFrame, frames: Int64, rateHz: Int,
            format: SampleFormat
        ) {
            self.file = file
            self.unfilteredFile = unfilteredFile
            self.firstFrame = firstFrame
            self.frames = frames
            self.rateHz = rateHz
            self.format = format
        }

        /// A part that a card recorded with `format`.
        public init(
            file: String, unfilteredFile: String? = nil, firstFrame: TakeFrame, frames: Int64, format: StreamFormat
        ) {
            self.init(
                file: file, unfilteredFile: unfilteredFile, firstFrame: firstFrame, frames: frames,
                rateHz: format.rateHz, format: format.sampleFormat)
            if format.significantBits < format.sampleFormat.significantBits { significantBits = format.significantBits }
        }

        /// The card that recorded it and its USB port, or nil if they are unknown.
        public var place: CardPlace? {
            get { card.map { CardPlace(card: $0, port: port) } }
            set { (card, port) = (newValue?.card, newValue?.port) }
        }

        /// The length of the unfiltered twin in frames, if the part has one.
        public var twinFrames: Int64 { unfilteredFrames ?? frames }

        /// The card's format, in a take of `channels`.
        public func streamFormat(channels: Int) -> StreamFormat {
            StreamFormat(
                rateHz: rateHz, channels: channels, sampleFormat: format, significantBits: significantBits)
        }

        enum CodingKeys: String, CodingKey {
            case file, frames, format, card, port, sha256, fingerprint
            case unfilteredFile = "unfiltered_file"
            case unfilteredFrames = "unfiltered_frames"
            case unfilteredSHA256 = "unfiltered_sha256"
            case soundSHA256 = "sound_sha256"
            case unfilteredSoundSHA256 = "unfiltered_sound_sha256"
            case acceptedSHA256 = "accepted_sha256"
            case acceptedUnfilteredSHA256 = "accepted_unfiltered_sha256"
            case firstFrame = "first_frame"
            case rateHz = "rate_hz"
            case significantBits = "significant_bits"
        }
    }

    /// The filter from one frame on.
    public struct FilterChange: Codable, Hashable, Sendable {
        public var atFrame: TakeFrame
        /// Null if the low-pass is off.
        @ExplicitNull public var lowPassHz: Double?
        /// 12, 24, 36 or 48.
        public var slopeDBPerOctave: Int
        /// Null if the high-pass is off.
        @ExplicitNull public var highPassHz: Double?

        public init(atFrame: TakeFrame, lowPassHz: Double?, slopeDBPerOctave: Int, highPassHz: Double?) {
            self.atFrame = atFrame
            self.slopeDBPerOctave = slopeDBPerOctave
            self.lowPassHz = lowPassHz
            self.highPassHz = highPassHz
        }

        enum CodingKeys: String, CodingKey {
            case atFrame = "at_frame"
            case lowPassHz = "low_pass_hz"
            case slopeDBPerOctave = "slope_db_per_octave"
            case highPassHz = "high_pass_hz"
        }
    }

    /// The levels of one channel over the whole take.
    public struct Levels: Codable, Equatable, Sendable {
        /// The largest absolute sample, in dB of full scale; null for silence.
        @ExplicitNull public var peakDBFS: Double?
        /// The root mean square, in dB of full scale (a full-scale sine is −3.01); null for silence.
        @ExplicitNull public var rmsDBFS: Double?
        /// The frames at the converter's limit.
        public var clippedFrames: Int64
        /// The frames that saturated because the filter overshot.
        public var filterClippedFrames: Int64

        public init(peakDBFS: Double?, rmsDBFS: Double?, clippedFrames: Int64, filterClippedFrames: Int64) {
            self.clippedFrames = clippedFrames
            self.filterClippedFrames = filterClippedFrames
            self.peakDBFS = peakDBFS
            self.rmsDBFS = rmsDBFS
        }

        enum CodingKeys: String, CodingKey {
            case peakDBFS = "peak_dbfs"
            case rmsDBFS = "rms_dbfs"
            case clippedFrames = "clipped_frames"
            case filterClippedFrames = "filter_clipped_frames"
        }
    }

    enum CodingKeys: String, CodingKey {
        case schema, revision, take, number, kit, started, clock, recovered, parts, frames, card, channels, format
        case filter, gaps, markers, levels, gain, agc, restored, version
        case kitID = "kit_id"
        case startedCorrected = "started_corrected"
        case startedMonotonicNs = "started_monotonic_ns"
        case bootID = "boot_id"
        case endedBy = "ended_by"
        case startedBy = "started_by"
        case durationSeconds = "duration_seconds"
        case channelsOfCard = "channels_of_card"
        case rateHz = "rate_hz"
        case preRollFrames = "pre_roll_frames"
        case gainDB = "gain_db"
        case clockDriftPPM = "clock_drift_ppm"
        case clockMap = "clock_map"
        case suspectedLosses = "suspected_losses"
        case pendingFormat = "pending_format"
    }
}

extension Sidecar {
    /// A take that begins now and has no frames yet.
    public init(
        name: TakeName, started: WallTime, startedMonotonic: Instant, bootID: String, clock: ClockOrigin,
        card: String, format: StreamFormat, preRollFrames: Int64, gainDB: Double?, agc: Bool?, version: String,
        startedBy: Start? = nil
    ) {
        self.init(
            take: name.stem, number: name.number, kit: name.kit, started: started.iso8601,
            startedMonotonicNs: startedMonotonic.nanoseconds, bootID: bootID, clock: clock, startedBy: startedBy,
            parts: [], frames: 0, durationSeconds: 0, card: card, rateHz: format.rateHz, channels: format.channels,
            format: format.sampleFormat, filter: [], preRollFrames: preRollFrames, gainDB: gainDB, agc: agc,
            version: version)
    }

    /// The names of the audio files in order, each followed by its unfiltered twin.
    public var audioFiles: [String] { parts.flatMap { [$0.file, $0.unfilteredFile].compactMap(\.self) } }

    /// The start time by the most reliable clock, or nil if the sidecar has no valid time.
    public var begun: WallTime? { WallTime(iso8601: startedCorrected ?? started) }

    /// The time from the first frame to the end of the last part, with the time between parts.
    public var spanSeconds: Double {
        // In seconds, because no sum of them overflows.
        parts.map { part in
            Double(part.firstFrame.count) / Double(max(1, rateHz)) + Double(part.frames) / Double(max(1, part.rateHz))
        }.max() ?? 0
    }

    /// Converts a number of frames from one rate to the rate of the take, rounded to the nearest. A result that
    /// overflows becomes `Int64.max`.
    public static func frames(_ frames: Int64, at rateHz: Int, countedAt takeRateHz: Int) -> Int64 {
        guard rateHz != takeRateHz else { return frames }
        return Int64(exactly: (Double(frames) * Double(takeRateHz) / Double(rateHz)).rounded()) ?? .max
    }
}
