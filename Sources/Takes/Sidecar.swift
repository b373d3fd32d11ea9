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
    /// The kit that recorded it.
    public var kit: String
    /// When the first frame was heard: ISO 8601, UTC, microseconds.
    public var started: String
    /// The same by a clock that was set later; null if it never was.
    @ExplicitNull public var startedCorrected: String?
    /// When the first frame was heard, on `CLOCK_MONOTONIC`, in nanoseconds.
    public var startedMonotonicNs: Int64
    /// The kernel's `boot_id`, to which the monotonic time belongs.
    public var bootID: String
    /// Where `started` comes from.
    public var clock: ClockOrigin
    /// Why it ended; null while it is being recorded.
    @ExplicitNull public var endedBy: Ending?
    /// Whether the take was put together again after a cut.
    public var recovered = false
    /// The audio files, in order.
    public var parts: [Part]
    /// Frames of all parts.
    public var frames: Int64
    /// `frames` at the take's rate.
    public var durationSeconds: Double
    /// The card's stable id.
    public var card: String
    /// Frames a second.
    public var rateHz: Int
    /// Samples a frame.
    public var channels: Int
    /// ALSA's name of the format that the card delivered.
    public var format: SampleFormat
    /// The filter at the start, and each change.
    public var filter: [FilterChange]
    /// What could not be kept, filled with silence.
    public var gaps: [Gap] = []
    /// What a person marked.
    public var markers: [Marker] = []
    /// Frames from before the press.
    public var preRollFrames: Int64
    /// One entry a channel.
    public var levels: [Levels] = []
    /// The card's capture gain; null if it has no such control.
    @ExplicitNull public var gainDB: Double?
    /// Whether automatic gain control was on; null if the card has none.
    @ExplicitNull public var agc: Bool?
    /// How much faster than `CLOCK_MONOTONIC_RAW` the card ran, in millionths; null if it was not heard long enough.
    @ExplicitNull public var clockDriftPPM: Double?
    /// The format that its files are still to be converted to, "flac"; null: they are as they are to be.
    @ExplicitNull public var pendingFormat: String?
    /// The version of Fieldfare that wrote this.
    public var version: String

    /// Why a take ended.
    public enum Ending: String, Codable, Sendable {
        case stop, shutdown
        case diskFull = "disk-full"
        case storageError = "storage-error"
        case cardLost = "card-lost"
        case powerCut = "power-cut"
        case crash, unknown
    }

    /// One audio file of a take.
    public struct Part: Codable, Equatable, Sendable {
        /// The file's name, beside the sidecar.
        public var file: String
        /// Where in the take it begins.
        public var firstFrame: Int64
        /// How many frames it holds.
        public var frames: Int64
        /// Frames a second.
        public var rateHz: Int
        /// ALSA's name of the format that the card delivered.
        public var format: SampleFormat
        /// Of the whole file; filled in by the library.
        @ExplicitNull public var sha256: String?

        /// A part that begins at `firstFrame` of the take.
        public init(file: String, firstFrame: Int64, frames: Int64, rateHz: Int, format: SampleFormat) {
            self.file = file
            self.firstFrame = firstFrame
            self.frames = frames
            self.rateHz = rateHz
            self.format = format
        }

        enum CodingKeys: String, CodingKey {
            case file, frames, format, sha256
            case firstFrame = "first_frame"
            case rateHz = "rate_hz"
        }
    }

    /// The filter from a frame on.
    public struct FilterChange: Codable, Equatable, Sendable {
        /// The first frame of the take that it holds for.
        public var atFrame: Int64
        /// Null: off.
        @ExplicitNull public var lowPassHz: Double?
        /// 12, 24, 36 or 48.
        public var slopeDBPerOctave: Int
        /// Null: off.
        @ExplicitNull public var highPassHz: Double?

        /// A filter in force from `atFrame` on.
        public init(atFrame: Int64, lowPassHz: Double?, slopeDBPerOctave: Int, highPassHz: Double?) {
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

    /// Frames that were lost and are silent in the file.
    public struct Gap: Codable, Equatable, Sendable {
        /// The first silent frame of the take.
        public var atFrame: Int64
        /// How many are silent.
        public var frames: Int64
        /// Why.
        public var cause: Cause

        /// Why frames were lost.
        public enum Cause: String, Codable, Sendable {
            /// The card's buffer ran over.
            case xrun
            /// The ring ran over: storage was too slow for too long.
            case stall
            /// The driver lost them without saying so.
            case driver
            /// The card was away.
            case cardLost = "card-lost"
        }

        /// `frames` silent frames from `atFrame` on.
        public init(atFrame: Int64, frames: Int64, cause: Cause) {
            self.atFrame = atFrame
            self.frames = frames
            self.cause = cause
        }

        enum CodingKeys: String, CodingKey {
            case frames, cause
            case atFrame = "at_frame"
        }
    }

    /// A place that a person marked.
    public struct Marker: Codable, Equatable, Sendable {
        /// The frame of the take heard when the button was pressed.
        public var atFrame: Int64
        /// What the person wrote; null for a button.
        @ExplicitNull public var note: String?

        /// A marker at a frame of the take.
        public init(atFrame: Int64, note: String?) {
            self.atFrame = atFrame
            self.note = note
        }

        enum CodingKeys: String, CodingKey {
            case note
            case atFrame = "at_frame"
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
        case filter, gaps, markers, levels, agc, version
        case startedCorrected = "started_corrected"
        case startedMonotonicNs = "started_monotonic_ns"
        case bootID = "boot_id"
        case endedBy = "ended_by"
        case durationSeconds = "duration_seconds"
        case rateHz = "rate_hz"
        case preRollFrames = "pre_roll_frames"
        case gainDB = "gain_db"
        case clockDriftPPM = "clock_drift_ppm"
        case pendingFormat = "pending_format"
    }
}

extension Sidecar {
    /// A take that begins now, with nothing recorded yet.
    public init(
        name: TakeName, started: WallTime, startedMonotonic: Instant, bootID: String, clock: ClockOrigin,
        card: String, format: StreamFormat, preRollFrames: Int64, gainDB: Double?, agc: Bool?, version: String
    ) {
        self.init(
            take: name.stem, number: name.number, kit: name.kit, started: started.iso8601,
            startedMonotonicNs: startedMonotonic.nanoseconds, bootID: bootID, clock: clock, parts: [], frames: 0,
            durationSeconds: 0, card: card, rateHz: format.rateHz, channels: format.channels,
            format: format.sampleFormat, filter: [], preRollFrames: preRollFrames, gainDB: gainDB, agc: agc,
            version: version)
    }

    /// How many frames of a take of `takeRateHz` last as long as `frames` at `rateHz` do, rounded to the nearest; what
    /// cannot be counted is the highest number there is.
    public static func frames(_ frames: Int64, at rateHz: Int, countedAt takeRateHz: Int) -> Int64 {
        guard rateHz != takeRateHz else { return frames }
        return Int64(exactly: (Double(frames) * Double(takeRateHz) / Double(rateHz)).rounded()) ?? .max
    }
}
