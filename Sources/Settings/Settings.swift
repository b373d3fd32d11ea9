public import Takes

/// What a kit is told by its settings file. Every key is optional: `Settings()` is a file that says nothing.
public struct Settings: Hashable, Sendable {
    /// `[kit]`
    public var kit = Kit()
    /// `[capture]`
    public var capture = Capture()
    /// `[filter]`
    public var filter = Filter()
    /// `[takes]`
    public var takes = Takes()
    /// `[playback]`
    public var playback = Playback()
    /// `[panel]`
    public var panel = Panel()
    /// `[control]`
    public var control = Control()
    /// `[library]`
    public var library = Library()
    /// `[outbox]`
    public var outbox = Outbox()

    /// The defaults.
    public init() {}

    /// The kit itself.
    public struct Kit: Hashable, Sendable {
        /// What its takes are named after; nil: the machine's own name, see `Settings.kitName`.
        public var name: String?
    }

    /// What a recording asks of the card.
    public struct Capture: Hashable, Sendable {
        /// Which card.
        public var card = CardReference.automatic
        /// Frames a second; nil: the card's native rate.
        public var rateHz: Int?
        /// Samples a frame; nil: as many as the card has.
        public var channels: Int?
        /// Whether the card stays open while nothing is recorded.
        public var standby = Standby.listening
        /// How much from before the press a take keeps; more than none needs `.listening`.
        public var preRoll = Duration.zero
        /// The capture gain to set; nil: as it is.
        public var gainDB: Double?
        /// Whether automatic gain control is wanted.
        public var agc = false

        /// What the card does while nothing is recorded.
        public enum Standby: String, CaseIterable, Sendable {
            /// It stays open, into RAM only.
            case listening
            /// It is closed, which saves power.
            case closed
        }
    }

    /// The capture filter.
    public struct Filter: Hashable, Sendable {
        /// The filter at the start of each take, as long as nothing else is asked for.
        public var request = FilterRequest()
        /// Whether the card's own signal is written beside the filtered one.
        public var keepUnfiltered = false
    }

    /// Where and how takes are stored.
    public struct Takes: Hashable, Sendable {
        /// The folder that holds them, an absolute path.
        public var directory = "/var/lib/fieldfare/takes"
        /// The form that a finished take has.
        public var format = FileFormat.wav
        /// The most sound that is not on disk, while the storage answers.
        public var sync = Duration.seconds(1)
        /// A part never grows past this.
        public var splitMiB = 4000
        /// A recording ends before less than this is free.
        public var reserveMiB = 512

        /// The form of a finished take.
        public enum FileFormat: String, CaseIterable, Sendable {
            case wav, flac
        }
    }

    /// How takes are heard.
    public struct Playback: Hashable, Sendable {
        /// Which card.
        public var card = CardReference.automatic
        /// 0 to 1.
        public var volume = 0.8
        /// How far back and forward go.
        public var skip = Duration.seconds(5)
    }

    /// The recorder's own socket.
    public struct Control: Hashable, Sendable {
        /// An absolute path.
        public var socket = "/run/fieldfare/recorder.sock"
    }

    /// The library service.
    public struct Library: Hashable, Sendable {
        /// Its socket, an absolute path.
        public var socket = "/run/fieldfare/library.sock"
        /// Its catalog, an absolute path.
        public var database = "/var/lib/fieldfare/library.sqlite"
    }
}
