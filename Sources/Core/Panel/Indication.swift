public import Takes
public import Transport

/// The information that the lamps show, as the deck knows it.
public struct Indication: Hashable, Sendable {
    /// The take that is being recorded, or nil.
    public var recording: Recording?
    /// Whether a press of record would record at once.
    public var isArmed = false
    public var playback: Playback = .stopped
    /// The library's work on takes.
    public var upload: UploadState = .idle
    public var isPairing = false
    /// The current faults. The lamp shows the lowest code.
    public var faults: Set<Fault.Code> = []
    /// The last answer to a button. The lamps show it once.
    public var answer: Answer?

    public init() {}

    /// The indication for a silent core that posted this one last. It has only a fault, 5 if a take was being recorded
    /// and 4 otherwise, because it is unknown whether the core still records or is ready to.
    public var ofSilentCore: Indication {
        var shown = Indication()
        shown.faults = [recording == nil ? .storageFailing : .overload]
        return shown
    }

    /// How much of the take that is being recorded is safe.
    public struct Recording: Hashable, Sendable {
        /// All sound of the take that was sampled before this instant is on disk. At the start it is the sampling time
        /// of the first frame. An instant becomes stale without a new post, so the lamp is correct even if no post
        /// follows because the storage stalls.
        public var safeUntil: Instant
        /// When the last successful sync ended.
        public var lastSync: Instant?

        public init(safeUntil: Instant, lastSync: Instant? = nil) {
            self.safeUntil = safeUntil
            self.lastSync = lastSync
        }
    }

    public enum Playback: Hashable, Sendable {
        case stopped, playing, paused
    }

    public struct Answer: Hashable, Sendable {
        public var kind: Kind
        public var at: Instant

        public enum Kind: Hashable, Sendable, CaseIterable {
            /// Another take is selected.
            case selected
            /// There is no further take in this direction.
            case atTheEnd
            /// The button has no effect in this state.
            case refused
            case locked
            case unlocked
        }

        public init(_ kind: Kind, at: Instant) {
            self.kind = kind
            self.at = at
        }
    }
}
