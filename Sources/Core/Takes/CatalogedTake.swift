/// A take in a list: the figures of its sidecar, and the notes of people.
public struct CatalogedTake: Codable, Hashable, Sendable {
    /// The stem that all of the take's files share.
    public var take: String
    public var number: Int
    /// The name of the kit that recorded it.
    public var kit: String
    public var revision: Int
    /// When the first frame was sampled: ISO 8601, UTC, microseconds.
    public var started: String
    /// The same time by a clock that was set later, or null if none was.
    @ExplicitNull public var startedCorrected: String?
    /// The source of `started`.
    public var clock: ClockOrigin
    /// The length of all parts together.
    public var durationSeconds: Double
    /// The length of all parts together.
    public var frames: Int64
    public var rateHz: Int
    public var channels: Int
    /// ALSA's name of the card's sample format.
    public var format: SampleFormat
    @ExplicitNull public var endedBy: Sidecar.Ending?
    /// Whether recovery completed the take after an interruption.
    public var recovered: Bool
    /// The format that its files must still be converted to, or null if they are in their final format.
    @ExplicitNull public var pendingFormat: String?
    /// The audio files in order, including unfiltered twins.
    public var files: [String]
    public var counts: Counts
    /// Whether samples reached the converter's limit.
    public var clipped: Bool
    /// The size of all its files.
    public var bytes: Int64
    /// The path of the folder with its files. Part of the path may be missing.
    public var folder: String
    public var place: Place
    /// The text that a person wrote about the take, or null.
    @ExplicitNull public var memo: String?
    /// In alphabetical order.
    public var tags: [String]
    public var starred: Bool
    /// Its state in the outbox, or null if it is not in the outbox.
    @ExplicitNull public var upload: UploadStanding?
    /// The result of comparing its sound with the recording, or null before the comparison.
    @ExplicitNull public var sound: SoundStanding? = nil
    /// The reason why it is held as damaged, as a sentence, or null if it is not damaged.
    @ExplicitNull public var damaged: String? = nil
    /// The id of the kit that recorded it, which does not depend on the kit's name, or null if it is unknown.
    @ExplicitNull public var kitID: KitID? = nil
    /// The title that a person gave it, or nil.
    public var title: String? = nil
    /// The time from its first frame to its last, with the time between its parts. Null from earlier versions.
    @ExplicitNull public var spanSeconds: Double? = nil
    /// The largest absolute sample of all channels, in dB of full scale. Nil if the take is silent, or its levels are
    /// unknown.
    public var peakDBFS: Double? = nil
    /// The greatest root mean square of a channel, in dB of full scale. Nil as above.
    public var rmsDBFS: Double? = nil
    /// The marker in which a search found what a person typed, or a label. Nil if it found that elsewhere, or the take was
    /// not searched for in this way.
    public var match: Match? = nil

    /// A marker that a search found.
    public struct Match: Codable, Hashable, Sendable {
        public var atFrame: TakeFrame
        /// The note, or the label of a marker without one.
        public var note: String

        public init(atFrame: TakeFrame, note: String) {
            self.atFrame = atFrame
            self.note = note
        }

        enum CodingKeys: String, CodingKey {
            case note
            case atFrame = "at_frame"
        }
    }

    public struct Counts: Codable, Hashable, Sendable {
        public var parts: Int
        public var markers: Int
        /// The number of gaps. Each gap of a range counts.
        public var gaps: Int
        public var suspectedLosses: Int

        public init(parts: Int, markers: Int, gaps: Int, suspectedLosses: Int) {
            self.parts = parts
            self.markers = markers
            self.gaps = gaps
            self.suspectedLosses = suspectedLosses
        }

        enum CodingKeys: String, CodingKey {
            case parts, markers, gaps
            case suspectedLosses = "suspected_losses"
        }
    }

    public enum Place: String, Codable, CaseIterable, Sendable {
        /// On a storage device that is present.
        case here
        /// On a storage device that is absent, such as a stick in a drawer.
        case elsewhere
    }

    enum CodingKeys: String, CodingKey {
        case take, number, kit, revision, started, clock, frames, channels, format, recovered, files, counts, clipped
        case bytes, folder, place, title, memo, tags, starred, upload, sound, damaged, match
        case kitID = "kit_id"
        case spanSeconds = "span_seconds"
        case peakDBFS = "peak_dbfs"
        case rmsDBFS = "rms_dbfs"
        case startedCorrected = "started_corrected"
        case durationSeconds = "duration_seconds"
        case rateHz = "rate_hz"
        case endedBy = "ended_by"
        case pendingFormat = "pending_format"
    }
}

/// The state of a take in the outbox, over all stores: `held` if any store's upload is held, `done` once it is done for
/// every store.
public enum UploadStanding: String, Codable, CaseIterable, Sendable {
    /// It must still be sent.
    case waiting
    /// It is held for a time, or until a person releases it.
    case held
    /// It arrived completely, and was verified.
    case done

    /// The reason for a take that a person holds.
    public static let heldByHand = "by hand"
}

extension CatalogedTake {
    /// Combines a sidecar, the properties of its files, and the notes of people.
    public init(
        _ sidecar: Sidecar, notes: TakeNotes, bytes: Int64, folder: String, place: Place
    ) {
        self.init(
            take: sidecar.take, number: sidecar.number, kit: sidecar.kit, revision: sidecar.revision,
            started: sidecar.started, startedCorrected: sidecar.startedCorrected, clock: sidecar.clock,
            durationSeconds: sidecar.durationSeconds, frames: sidecar.frames, rateHz: sidecar.rateHz,
            channels: sidecar.channels, format: sidecar.format, endedBy: sidecar.endedBy,
            recovered: sidecar.recovered, pendingFormat: sidecar.pendingFormat,
            files: sidecar.audioFiles,
            counts: Counts(
                parts: sidecar.parts.count, markers: notes.markers(of: sidecar.markers).count, gaps: sidecar.gapCount,
                suspectedLosses: sidecar.suspectedLosses.count),
            clipped: sidecar.levels.contains { $0.clippedFrames > 0 }, bytes: bytes, folder: folder, place: place,
            memo: notes.memo, tags: notes.tags, starred: notes.starred, upload: nil,
            sound: notes.soundStanding(of: sidecar), damaged: notes.damage(of: sidecar), kitID: sidecar.kitID,
            title: notes.title, spanSeconds: sidecar.spanSeconds,
            peakDBFS: sidecar.levels.compactMap(\.peakDBFS).max(), rmsDBFS: sidecar.levels.compactMap(\.rmsDBFS).max())
    }
}
