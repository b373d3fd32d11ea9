public import Takes

/// What the settings file of a kit says. Every key is optional: `Settings()` is an empty file.
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
    /// `[schedule]`
    public var schedule = Schedule()
    /// `[power]`
    public var power = Power()
    /// `[control]`
    public var control = Control()
    /// `[library]`
    public var library = Library()
    /// `[console]`
    public var console = Console()
    /// `[outbox]`
    public var outbox = Outbox()

    /// The defaults.
    public init() {}

    /// The kit itself.
    public struct Kit: Hashable, Sendable {
        /// The name that its takes begin with, or nil for the machine's own name, see `Settings.kitName`.
        public var name: String?
        /// The IANA time zone of all times of day, or nil for the time zone of the machine.
        public var timeZone: String?
    }

    /// What a recording asks of the card.
    public struct Capture: Hashable, Sendable {
        /// Which card.
        public var card = CardReference.automatic
        /// Frames a second; nil: the card's native rate.
        public var rateHz: Int?
        /// Samples a frame; nil: as many as the card has.
        public var channels: ChannelChoice?
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
        /// The folder that holds them, an absolute path; or `stick`, or `stick-or-internal`.
        public var directory = internalFolder
        /// The folder of a kit that has no stick.
        static let internalFolder = "/var/lib/fieldfare/takes"
        /// Where the kit mounts a stick, and the folder for takes on it.
        public static let stickMountPoint = "/run/fieldfare/stick"
        /// Whether takes are kept on a stick.
        public var stick: StickUse { StickUse(rawValue: directory) ?? .none }
        /// The folder that holds them while no optional stick does, an absolute path.
        public var folder: String {
            switch stick {
            case .none: directory
            case .required: Self.stickMountPoint + "/takes"
            case .optional: Self.internalFolder
            }
        }

        /// What a stick is used for.
        public enum StickUse: String, CaseIterable, Sendable {
            case none
            case required = "stick"
            case optional = "stick-or-internal"
        }

        /// The clock by which takes and their folders are named.
        public var nameTime = NameTime.utc
        /// The form that a finished take has.
        public var format = FileFormat.wav
        /// The most sound that is not on disk, while the storage answers.
        public var sync = Duration.seconds(1)
        /// A part never grows past this.
        public var splitMiB = 4000
        /// A recording ends before less than this is free.
        public var reserveMiB = 512
        /// How soon after stop record goes on with the same take; zero: never.
        public var rejoin = Duration.seconds(60)
        /// A take ends by itself after this; zero: never.
        public var longest = Duration.zero
        /// A take is followed by the next, without a missing frame, after this; zero: never.
        public var newTakeEvery = Duration.zero

        /// The form of a finished take.
        public enum FileFormat: String, CaseIterable, Sendable {
            case wav, flac
        }
    }

    /// How takes are played.
    public struct Playback: Hashable, Sendable {
        /// Which card.
        public var card = CardReference.automatic
        /// 0 to 1.
        public var volume = 0.8
        /// How far back and forward go.
        public var skip = Duration.seconds(5)
        /// The pitch and the speed, as long as nothing else is asked for.
        public var tuning = Tuning()
        /// When the card that plays carries what the other card captures.
        public var monitor = Monitor.off

        /// When the capture is to be played, for headphones.
        public enum Monitor: String, CaseIterable, Sendable {
            case off, recording, always
        }
    }

    /// When the kit records by itself.
    public struct Schedule: Hashable, Sendable {
        /// The hours of each day; none: only people begin takes.
        public var record: [HoursOfDay] = []
        /// Whether the kit is switched off between them, where its clock chip can switch it on again.
        public var isOffBetween = false
    }

    /// What says that the battery is nearly empty: the kit then ends the take and switches itself off.
    public struct Power: Hashable, Sendable {
        /// A line that a battery board drives; active: the battery is low.
        public var lowBattery: ButtonLine?
        /// The file of the kernel that has the supply's voltage, an absolute path.
        public var supply: String?
        /// What the supply has for each volt at the sensor: more than 1 behind a divider.
        public var supplyRatio = 1.0
        /// The voltage below which the battery is low, or nil to note the voltage and nothing else.
        public var lowVolts: Double?
        /// The cpufreq governor, or nil to keep the kernel's default.
        public var governor: Governor?
        /// True to switch the kit's Wi-Fi on, false to switch it off, or nil to leave it as it is.
        public var hasWiFi: Bool?
        /// True to switch the HDMI sockets on, false to switch them off, or nil to leave them as they are.
        public var hasHDMI: Bool?

        /// A governor of the kernel's cpufreq.
        public enum Governor: String, CaseIterable, Sendable {
            case powersave, conservative, ondemand, schedutil, performance
        }
    }

    /// The recorder's own socket.
    public struct Control: Hashable, Sendable {
        /// An absolute path.
        public var socket = "/run/fieldfare/recorder.sock"
    }

    /// The library service.
    public struct Library: Hashable, Sendable {
        /// Its socket, an absolute path.
        public var socket = "/run/fieldfare-library/library.sock"
        /// Where it keeps its catalog and what it alone knows, an absolute path.
        public var directory = "/var/lib/fieldfare-library"
    }

    /// The web page.
    public struct Console: Hashable, Sendable {
        /// The address at which it waits for browsers, or nil to wait at none.
        public var listen: ListenAddress? = ListenAddress(host: "0.0.0.0", port: 80)
        /// What a browser that is not paired may do.
        public var access = Access.paired
        /// Whether browsers may listen to the card live.
        public var hasLiveListening = true

        /// What a browser that is not paired may do.
        public enum Access: String, CaseIterable, Sendable {
            /// Nothing.
            case paired
            /// See everything and change nothing.
            case readOnly = "read-only"
            /// Everything, as on a bench.
            case open
        }
    }
}
