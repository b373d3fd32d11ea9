public import Takes
public import Transport

/// What the lamps are to tell, as the deck knows it.
public struct Indication: Hashable, Sendable {
    /// The take that is recorded; nil when nothing is.
    public var recording: Recording?
    /// Whether pressing record would record at once.
    public var isArmed = false
    /// What is played.
    public var playback: Playback = .stopped
    /// What the outbox does.
    public var upload: Upload = .idle
    /// What is wrong; the lowest code shows.
    public var faults: Set<Fault.Code> = []
    /// The last answer to a button that the lamps give once.
    public var answer: Answer?

    /// Nothing to tell.
    public init() {}

    /// How safe the take is that is recorded.
    public struct Recording: Hashable, Sendable {
        /// Whatever of the take was heard before this instant is on disk; at first, when its first frame was heard.
        /// Given as an instant, it grows stale by itself: the lamp is true even when nobody tells it that storage stalls.
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

    /// What the outbox does, under the control socket's names.
    public enum Upload: String, Hashable, Sendable, CaseIterable {
        case idle, sending, held
        /// The stick may be pulled.
        case safeToRemove = "safe-to-remove"
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
            /// The button is not for now.
            case refused
        }

        /// An answer that begins at an instant.
        public init(_ kind: Kind, at: Instant) {
            self.kind = kind
            self.at = at
        }
    }
}
