public import Takes
public import Transport

/// What the lamps are to show, as the deck knows it.
public struct Indication: Hashable, Sendable {
    /// The take that is recorded; nil when nothing is.
    public var recording: Recording?
    /// Whether pressing record would record at once.
    public var isArmed = false
    /// What is played.
    public var playback: Playback = .stopped
    /// What the library does with takes.
    public var upload: UploadState = .idle
    /// Whether phones may be paired.
    public var isPairing = false
    /// What is wrong; the lowest code shows.
    public var faults: Set<Fault.Code> = []
    /// The last answer to a button that the lamps give once.
    public var answer: Answer?

    /// Nothing to show.
    public init() {}

    /// What the lamps show of a silent core that posted this last: only a fault, 5 if a take was being recorded and 4
    /// otherwise, since what it recorded or was ready to record is not known any more.
    public var ofSilentCore: Indication {
        var shown = Indication()
        shown.faults = [recording == nil ? .storageFailing : .overload]
        return shown
    }

    /// How safe the take is that is recorded.
    public struct Recording: Hashable, Sendable {
        /// All sound of the take that was sampled before this instant is on disk; at first, when its first frame was sampled.
        /// As an instant it becomes stale by itself: the lamp is true even if no post follows because the storage stalls.
        public var safeUntil: Instant
        /// When a sync last ended well.
        public var lastSync: Instant?

        /// A take that is safe up to an instant.
        public init(safeUntil: Instant, lastSync: Instant? = nil) {
            self.safeUntil = safeUntil
            self.lastSync = lastSync
        }
    }

    /// What playback does.
    public enum Playback: Hashable, Sendable {
        case stopped, playing, paused
    }

    /// An answer to a button, given once.
    public struct Answer: Hashable, Sendable {
        /// What it says.
        public var kind: Kind
        /// When it begins.
        public var at: Instant

        /// The answers there are.
        public enum Kind: Hashable, Sendable, CaseIterable {
            /// Another take is selected.
            case selected
            /// There is no take beyond this one.
            case atTheEnd
            /// The button does nothing in this state.
            case refused
            /// The panel is locked from now on.
            case locked
            /// The panel is no longer locked.
            case unlocked
        }

        /// An answer that begins at an instant.
        public init(_ kind: Kind, at: Instant) {
            self.kind = kind
            self.at = at
        }
    }
}
