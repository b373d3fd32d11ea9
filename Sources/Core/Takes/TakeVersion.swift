/// The boot and the instant at which a recording began: no two recordings share them, and a take that is recorded anew under its old name has
/// others.
public struct RecordingStart: Codable, Hashable, Sendable {
    /// The kernel's id of the boot that recorded it.
    public var bootID: String
    /// When in that boot it began, in nanoseconds.
    public var startedMonotonicNs: Int64

    /// A recording.
    public init(bootID: String, startedMonotonicNs: Int64) {
        self.bootID = bootID
        self.startedMonotonicNs = startedMonotonicNs
    }

    enum CodingKeys: String, CodingKey {
        case bootID = "boot_id"
        case startedMonotonicNs = "started_monotonic_ns"
    }
}

/// One state of one recording: what is decided about it holds for no other.
public struct TakeVersion: Hashable, Sendable {
    /// The folder that its files are in, `2026-11-21`.
    public var day: String
    /// Which recording it is.
    public var start: RecordingStart
    /// The revision of its sidecar.
    public var revision: Int

    /// A state of a recording.
    public init(day: String, start: RecordingStart, revision: Int) {
        self.day = day
        self.start = start
        self.revision = revision
    }
}

/// What must hold for a take to be deleted. The more is said, the less can be meant by mistake.
public struct DiscardTerms: Hashable, Sendable {
    /// The folder that it is in, `2026-11-21`; nil: the newest take of the stem.
    public var day: String?
    /// The folder for takes that it is in, by a path; nil: the recorder's.
    public var directory: String?
    /// What it must still be; nil: whatever it is.
    public var version: TakeVersion?
    /// When the order ends: what it relied on may not hold any more. Nil: never.
    public var notAfter: Instant?
    /// Whether it is deleted for good, and not moved into the bin.
    public var isFinal: Bool

    /// Terms; without any, the newest take of a stem is meant, whatever it is, and for all time.
    public init(
        _ version: TakeVersion? = nil, day: String? = nil, in directory: String? = nil, notAfter: Instant? = nil,
        isFinal: Bool = false
    ) {
        self.day = version?.day ?? day
        self.directory = directory
        self.version = version
        self.notAfter = notAfter
        self.isFinal = isFinal
    }
}

extension Sidecar {
    /// Which recording this is of.
    public var recordingStart: RecordingStart { RecordingStart(bootID: bootID, startedMonotonicNs: startedMonotonicNs) }

    /// The state of the recording that this describes, in the folder of a day.
    public func version(day: String) -> TakeVersion { TakeVersion(day: day, start: recordingStart, revision: revision) }
}
