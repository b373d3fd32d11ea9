/// The boot and the instant of a recording's start. Together they are unique: a take that is recorded again under its
/// old name has other values.
public struct RecordingStart: Codable, Hashable, Sendable {
    /// The kernel's id of the boot.
    public var bootID: String
    /// The time of the start in that boot, in nanoseconds.
    public var startedMonotonicNs: Int64

    public init(bootID: String, startedMonotonicNs: Int64) {
        self.bootID = bootID
        self.startedMonotonicNs = startedMonotonicNs
    }

    enum CodingKeys: String, CodingKey {
        case bootID = "boot_id"
        case startedMonotonicNs = "started_monotonic_ns"
    }
}

/// One state of one recording. A decision about it does not hold for any other state.
public struct TakeVersion: Hashable, Sendable {
    /// The folder of its files, `2026-11-21`.
    public var day: String
    public var start: RecordingStart
    public var revision: Int

    public init(day: String, start: RecordingStart, revision: Int) {
        self.day = day
        self.start = start
        self.revision = revision
    }
}

/// Conditions for deleting a take. More conditions make a mistake less likely.
public struct DiscardTerms: Hashable, Sendable {
    /// The folder of the take, `2026-11-21`, or nil for the newest take with the stem.
    public var day: String?
    /// The path of the folder for takes, or nil for the recorder's folder.
    public var directory: String?
    /// The state that the take must still have, or nil for any state.
    public var version: TakeVersion?
    /// The order is invalid after this instant, because its assumptions may no longer be true. Nil means that it stays
    /// valid.
    public var notAfter: Instant?
    /// Whether the take is deleted permanently instead of being moved to the bin.
    public var isFinal: Bool

    /// Without arguments, the terms mean the newest take with the stem, in any state, without a time limit.
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
    public var recordingStart: RecordingStart { RecordingStart(bootID: bootID, startedMonotonicNs: startedMonotonicNs) }

    /// The state of the recording, in the folder of a day.
    public func version(day: String) -> TakeVersion { TakeVersion(day: day, start: recordingStart, revision: revision) }
}
