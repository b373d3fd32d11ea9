/// What is known of a take, beside its sound: the file `STEM.json`. Its appearance commits the take.
public struct Sidecar: Codable, Equatable, Sendable {
    /// 1. Readers ignore keys that they do not know.
    public var schema = 1
    /// 1, then higher with each change.
    public var revision = 1
    /// The stem that all of the take's files share.
    public var take: String
    /// The take's number.
    public var number: Int
    /// The name of the kit that recorded it, as it was then.
    public var kit: String
    /// What that kit is known by, whatever its name. Null: the version did not store it, the kit could not keep a key, or the sidecar was
    /// made anew from the sound.
    @ExplicitNull public var kitID: KitID?
    /// When the first frame was sampled: ISO 8601, UTC, microseconds.
    public var started: String
    /// The same by a clock that was set later; null if it never was.
    @ExplicitNull public var startedCorrected: String?
    /// When the first frame was sampled, on `CLOCK_MONOTONIC`, in nanoseconds.
    public var startedMonotonicNs: Int64
    /// The kernel's `boot_id`, to which the monotonic time belongs.
    public var bootID: String
    /// Where `started` comes from.
    public var clock: ClockOrigin
    /// Why it ended; null while it is being recorded.
    @ExplicitNull public var endedBy: Ending?
    /// What began it; null in sidecars of versions that did not note it.
    @ExplicitNull public var startedBy: Start?
    /// Whether the take was completed after a cut.
    public var recovered = false
    /// The audio files, in order.
    public var parts: [Part]
    /// Frames of all parts, counted at the take's rate: a part may have another. Versions up to 0.1.0 added up what the parts have.
    public var frames: Int64
    /// How long all parts last together.
    public var durationSeconds: Double
    /// The card's stable id.
    public var card: String
    /// Frames a second.
    public var rateHz: Int
    /// Samples a frame.
    public var channels: Int
    /// The numbers of the card's channels that were recorded, in their order, from 1; nil: all of them.
    public var channelsOfCard: [Int]?
    /// ALSA's name of the format that the card delivered.
    public var format: SampleFormat
    /// The filter at the start, and each change.
    public var filter: [FilterChange]
    /// The frames that were lost and are silent, in order. `SidecarLedger` limits their number.
    public var gaps: [Gap] = []
    /// The places that a person marked, in the order in which they were noted.
    public var markers: [Marker] = []
    /// Frames from before the press.
    public var preRollFrames: Int64
    /// One entry a channel.
    public var levels: [Levels] = []
    /// The card's capture gain at the start; null if it has no such control.
    @ExplicitNull public var gainDB: Double?
    /// Whether automatic gain control was on at the start; null if the card has none.
    @ExplicitNull public var agc: Bool?
    /// Each change of these two during the take, in order.
    @EmptyIfMissing public var gain: [GainChange]
    /// How much faster than `CLOCK_MONOTONIC_RAW` the card ran, in millionths; null if it ran for too short a time.
    @ExplicitNull public var clockDriftPPM: Double?
    /// Which frame was sampled when, at least every 60 s; less often in takes of more than a day.
    @EmptyIfMissing public var clockMap: [ClockPoint]
    /// Where the card's frames lag behind the clock. Suspected only: the sound there is as the card delivered it.
    @EmptyIfMissing public var suspectedLosses: [SuspectedLoss]
    /// The format that its files are still to be converted to, "flac"; null: they are as they are to be.
    @ExplicitNull public var pendingFormat: String?
    /// True if a person restored the take from the bin, or nil if nobody did. The library keeps such a take until it needs the space.
    public var restored: Bool?
    /// The version of Fieldfare that wrote this.
    public var version: String

    /// Why a take ended.
    public enum Ending: String, Codable, Sendable {
        case stop, shutdown
        /// The longest time that the settings allow.
        case limit
        /// Another take goes on with the next frame.
        case next
        case diskFull = "disk-full"
        case storageError = "storage-error"
        case cardLost = "card-lost"
        case powerCut = "power-cut"
        case crash, unknown
    }

    /// What began a take.
    public enum Start: String, Codable, Sendable {
        case button, command, schedule
    }

    /// One audio file of a take.
    public struct Part: Codable, Equatable, Sendable {
        /// The file's name, beside the sidecar.
        public var file: String
        /// The name of the unfiltered twin; null if there is none.
        @ExplicitNull public var unfilteredFile: String?
        /// Where in the take it begins.
        public var firstFrame: TakeFrame
        /// Its length in frames.
        public var frames: Int64
        /// The length of the unfiltered twin in frames, where a cut, another program or a damaged disk left another one; else nil.
        public var unfilteredFrames: Int64?
        /// Frames a second.
        public var rateHz: Int
        /// ALSA's name of the format that the card delivered.
        public var format: SampleFormat
        /// Bits of a sample that carry signal, where the card has fewer than its format; nil: all of them. The file of an `S32_LE` part
        /// of at most 24 bits holds 24.
        public var significantBits: Int?
        /// The stable id of the card that it was recorded from; nil in sidecars of versions that stored it for the whole take alone.
        public var card: String?
        /// The USB port that the card was in, such as `1-1.4`; nil: it was in none, or the version did not store it.
        public var port: String?
        /// Of the whole file; filled in by the library.
        @ExplicitNull public var sha256: String?
        /// Of the whole unfiltered twin; filled in by the library.
        @ExplicitNull public var unfilteredSHA256: String?
        /// The fingerprint of its sound: SHA-256 of the samples as they are stored (the content of the chunk `data`), hexadecimal.
        /// FLAC keeps it. Null: the part is still being recorded, or the version that recorded it computed none.
        @ExplicitNull public var soundSHA256: String?
        /// The same of the unfiltered twin.
        @ExplicitNull public var unfilteredSoundSHA256: String?
        /// When the fingerprints were computed; null without one.
        @ExplicitNull public var fingerprint: Fingerprint?
        /// SHA-256 of the whole file that a person accepted, though its sound is not what was recorded; filled in by the library.
        /// Nil: there was no need. "missing": it was accepted that the file is not there.
        public var acceptedSHA256: String?
        /// The same of the unfiltered twin.
        public var acceptedUnfilteredSHA256: String?

        /// When the fingerprint of a part was computed.
        public enum Fingerprint: String, Codable, Sendable {
            /// While it was recorded, of the samples that were given to the storage.
            case capture
            /// Of the file, later: damage before that is not known.
            case later
        }

        /// A part that begins at `firstFrame` of the take.
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

        /// A part of what a card delivers as `format`.
        public init(
            file: String, unfilteredFile: String? = nil, firstFrame: TakeFrame, frames: Int64, format: StreamFormat
        ) {
            self.init(
                file: file, unfilteredFile: unfilteredFile, firstFrame: firstFrame, frames: frames,
                rateHz: format.rateHz, format: format.sampleFormat)
            if format.significantBits < format.sampleFormat.significantBits { significantBits = format.significantBits }
        }

        /// The card that it was recorded from, and where it was; nil: that is not known.
        public var place: CardPlace? {
            get { card.map { CardPlace(card: $0, port: port) } }
            set { (card, port) = (newValue?.card, newValue?.port) }
        }

        /// The length of the unfiltered twin in frames, if there is one.
        public var twinFrames: Int64 { unfilteredFrames ?? frames }

        /// What the card delivered, in a take of `channels`.
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

    /// The filter from a frame on.
    public struct FilterChange: Codable, Hashable, Sendable {
        /// The first frame of the take that it holds for.
        public var atFrame: TakeFrame
        /// Null: off.
        @ExplicitNull public var lowPassHz: Double?
        /// 12, 24, 36 or 48.
        public var slopeDBPerOctave: Int
        /// Null: off.
        @ExplicitNull public var highPassHz: Double?

        /// A filter in force from `atFrame` on.
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

    /// How loud one channel was over the whole take.
    public struct Levels: Codable, Equatable, Sendable {
        /// The greatest sample, in dB of full scale; null for silence.
        @ExplicitNull public var peakDBFS: Double?
        /// The root of the mean square, in dB of full scale (a full-scale sine is −3.01); null for silence.
        @ExplicitNull public var rmsDBFS: Double?
        /// Frames at the converter's limit.
        public var clippedFrames: Int64
        /// Frames that the filter's overshoot saturated.
        public var filterClippedFrames: Int64

        /// The levels of one channel.
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
    /// A take that begins now, with nothing recorded yet.
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

    /// The names of its audio files, in order, each with its unfiltered twin.
    public var audioFiles: [String] { parts.flatMap { [$0.file, $0.unfilteredFile].compactMap(\.self) } }

    /// The start time by the most reliable clock, or nil if the sidecar has no such time.
    public var begun: WallTime? { WallTime(iso8601: startedCorrected ?? started) }

    /// How many frames of a take of `takeRateHz` last as long as `frames` at `rateHz` do, rounded to the nearest; what
    /// cannot be counted is the highest number there is.
    public static func frames(_ frames: Int64, at rateHz: Int, countedAt takeRateHz: Int) -> Int64 {
        guard rateHz != takeRateHz else { return frames }
        return Int64(exactly: (Double(frames) * Double(takeRateHz) / Double(rateHz)).rounded()) ?? .max
    }
}
