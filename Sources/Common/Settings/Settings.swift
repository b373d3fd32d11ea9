public import Takes

/// The content of a kit's settings file. Every key is optional: `Settings()` is an empty file.
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

    public init() {}

    public struct Kit: Hashable, Sendable {
        /// The name that its takes begin with, or nil for the machine's own name, see `Settings.kitName`.
        public var name: String?
        /// The IANA time zone of all times of day, or nil for the machine's time zone.
        public var timeZone: String?
    }

    public struct Capture: Hashable, Sendable {
        public var card = CardReference.automatic
        /// The sample rate, or nil for the card's native rate.
        public var rateHz: Int?
        /// The recorded channels, or nil for all that the card has.
        public var channels: ChannelChoice?
        public var standby = Standby.listening
        /// How much sound from before the press a take keeps. More than zero needs `.listening`.
        public var preRoll = Duration.zero
        /// The capture gain to set, or nil to leave it unchanged.
        public var gainDB: Double?
        public var agc = false

        /// The card's state while nothing is recorded.
        public enum Standby: String, CaseIterable, Sendable {
            /// The card stays open, and its sound stays in RAM.
            case listening
            /// The card is closed, which saves power.
            case closed
        }
    }

    public struct Filter: Hashable, Sendable {
        /// The filter at the start of each take, unless a request changes it.
        public var request = FilterRequest()
        /// Whether the card's own signal is written in addition to the filtered one.
        public var keepUnfiltered = false
    }

    public struct Takes: Hashable, Sendable {
        /// An absolute path, `stick` or `stick-or-internal`.
        public var directory = internalFolder
        static let internalFolder = "/var/lib/fieldfare/takes"
        /// The mount point of a stick, and the folder for takes on it.
        public static let stickMountPoint = "/run/fieldfare/stick"
        public var stick: StickUse { StickUse(rawValue: directory) ?? .none }
        /// The absolute path of the folder that is used while an optional stick is missing.
        public var folder: String {
            switch stick {
            case .none: directory
            case .required: Self.stickMountPoint + "/takes"
            case .optional: Self.internalFolder
            }
        }

        public enum StickUse: String, CaseIterable, Sendable {
            case none
            case required = "stick"
            case optional = "stick-or-internal"
        }

        /// The clock for the names of takes and of their folders.
        public var nameTime = NameTime.utc
        /// The file format of a finished take.
        public var format = FileFormat.wav
        /// The most sound that is not yet on disk, as long as the storage answers.
        public var sync = Duration.seconds(1)
        /// A part of a take never exceeds this size.
        public var splitMiB = 4000
        /// A recording ends before the free space falls below this.
        public var reserveMiB = 512
        /// A press of record within this time after a stop continues the same take; zero means never.
        public var rejoin = Duration.seconds(60)
        /// A take ends by itself after this time; zero means never.
        public var longest = Duration.zero
        /// After this time the next take follows without a missing frame; zero means never.
        public var newTakeEvery = Duration.zero

        public enum FileFormat: String, CaseIterable, Sendable {
            case wav, flac
        }
    }

    public struct Playback: Hashable, Sendable {
        public var card = CardReference.automatic
        /// 0 to 1.
        public var volume = 0.8
        /// The step of back and forward.
        public var skip = Duration.seconds(5)
        /// The pitch and the speed, unless a request changes them.
        public var tuning = Tuning()
        /// When the playback card plays the sound of the capture card.
        public var monitor = Monitor.off

        /// When the capture is played to headphones.
        public enum Monitor: String, CaseIterable, Sendable {
            case off, recording, always
        }
    }

    /// When the kit records by itself.
    public struct Schedule: Hashable, Sendable {
        /// The hours of each day. If empty, only people start takes.
        public var record: [HoursOfDay] = []
        /// Whether the kit switches off between these hours. Its clock chip must be able to switch it on again.
        public var isOffBetween = false
    }

    /// How the kit detects a nearly empty battery. It then ends the take and switches itself off.
    public struct Power: Hashable, Sendable {
        /// A line that a battery board drives while the battery is low.
        public var lowBattery: ButtonLine?
        /// The absolute path of the kernel's file with the supply voltage.
        public var supply: String?
        /// Supply volts per volt at the sensor; more than 1 with a voltage divider.
        public var supplyRatio = 1.0
        /// The voltage below which the battery is low, or nil to record the voltage and do nothing else.
        public var lowVolts: Double?
        /// The cpufreq governor, or nil to keep the kernel's default.
        public var governor: Governor?
        /// True switches the kit's Wi-Fi on, false switches it off, and nil leaves it unchanged.
        public var hasWiFi: Bool?
        /// True switches the HDMI outputs on, false switches them off, and nil leaves them unchanged.
        public var hasHDMI: Bool?

        public enum Governor: String, CaseIterable, Sendable {
            case powersave, conservative, ondemand, schedutil, performance
        }
    }

    public struct Control: Hashable, Sendable {
        /// An absolute path.
        public var socket = "/run/fieldfare/recorder.sock"
    }

    public struct Library: Hashable, Sendable {
        /// An absolute path.
        public var socket = "/run/fieldfare-library/library.sock"
        /// The absolute path of the folder with its catalog and its other data.
        public var directory = "/var/lib/fieldfare-library"
    }

    /// The web page.
    public struct Console: Hashable, Sendable {
        /// The address for browsers, or nil to serve none.
        public var listen: ListenAddress? = ListenAddress(host: "0.0.0.0", port: 80)
        /// The rights of a browser that is not paired.
        public var access = Access.paired
        /// Whether browsers may listen to the card live.
        public var hasLiveListening = true

        /// The rights of a browser that is not paired.
        public enum Access: String, CaseIterable, Sendable {
            case paired
            /// See everything, change nothing.
            case readOnly = "read-only"
            /// Everything, as on a bench.
            case open
        }
    }
}
