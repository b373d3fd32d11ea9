/// A take as a list shows it: the figures of its sidecar, and what a person added.
public struct CatalogedTake: Codable, Hashable, Sendable {
    /// The stem that all of the take's files share.
    public var take: String
    /// The take's number.
    public var number: Int
    /// The kit that recorded it.
    public var kit: String
    /// The sidecar's revision.
    public var revision: Int
    /// When the first frame was sampled: ISO 8601, UTC, microseconds.
    public var started: String
    /// The same by a clock that was set later; null if it never was.
    @ExplicitNull public var startedCorrected: String?
    /// Where `started` comes from.
    public var clock: ClockOrigin
    /// Of all parts together.
    public var durationSeconds: Double
    /// Of all parts together.
    public var frames: Int64
    /// Frames a second.
    public var rateHz: Int
    /// Samples a frame.
    public var channels: Int
    /// ALSA's name of the format that the card delivered.
    public var format: SampleFormat
    /// Why it ended.
    @ExplicitNull public var endedBy: Sidecar.Ending?
    /// Whether it was completed after a cut.
    public var recovered: Bool
    /// The format that its files are still to be converted to; null: they are as they are to be.
    @ExplicitNull public var pendingFormat: String?
    /// Its audio files, in order, with unfiltered twins.
    public var files: [String]
    /// Parts, markers, gaps, suspected losses: how many.
    public var counts: Counts
    /// Whether samples were at the converter's limit.
    public var clipped: Bool
    /// Bytes of all of its files.
    public var bytes: Int64
    /// The folder of its files, as far as it is there.
    public var folder: String
    /// Where its files are.
    public var place: Place
    /// What a person wrote of it; null: nothing.
    @ExplicitNull public var memo: String?
    /// In the order of the alphabet.
    public var tags: [String]
    /// Whether a person marked it as worth keeping.
    public var starred: Bool
    /// Where it stands in the outbox; null: it is in none.
    @ExplicitNull public var upload: UploadStanding?
    /// Whether its sound is what was recorded; null: it was not compared yet.
    @ExplicitNull public var sound: SoundStanding? = nil
    /// Why it is held as damaged, a sentence; null: it is not.
    @ExplicitNull public var damaged: String? = nil
    /// What the kit that recorded it is known by, whatever its name; null: that is not known.
    @ExplicitNull public var kitID: KitID? = nil

    /// How many of what a take has.
    public struct Counts: Codable, Hashable, Sendable {
        /// Parts.
        public var parts: Int
        /// Markers.
        public var markers: Int
        /// Gaps, each of a range counted.
        public var gaps: Int
        /// Suspected losses.
        public var suspectedLosses: Int

        /// These counts.
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

    /// Where the files of a take are.
    public enum Place: String, Codable, CaseIterable, Sendable {
        /// On a storage that is in.
        case here
        /// On a storage that is out, such as a stick in a drawer.
        case elsewhere
    }

    enum CodingKeys: String, CodingKey {
        case take, number, kit, revision, started, clock, frames, channels, format, recovered, files, counts, clipped
        case bytes, folder, place, memo, tags, starred, upload, sound, damaged
        case kitID = "kit_id"
        case startedCorrected = "started_corrected"
        case durationSeconds = "duration_seconds"
        case rateHz = "rate_hz"
        case endedBy = "ended_by"
        case pendingFormat = "pending_format"
    }
}

/// Where a take stands in the outbox, with all stores together: held if any holds it, done once every store has it.
public enum UploadStanding: String, Codable, CaseIterable, Sendable {
    /// To be sent.
    case waiting
    /// For a time, or for a person.
    case held
    /// There, whole and verified.
    case done

    /// Why a take is held that a person holds.
    public static let heldByHand = "by hand"
}

extension CatalogedTake {
    /// What a list has of a sidecar, of its files, and of what a person added.
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
            sound: notes.soundStanding(of: sidecar), damaged: notes.damage(of: sidecar), kitID: sidecar.kitID)
    }
}
