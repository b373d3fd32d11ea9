public import Takes
public import Transport

/// Something that happened to the kit.
public enum HistoryEvent: Equatable, Sendable {
    /// The recorder started.
    case started(RecorderStart)
    /// The recorder ended as it was asked to.
    case ended(RecorderEnd)
    /// A button was pressed, or held.
    case pressed(ButtonPress)
    /// A take began.
    case takeBegan(TakeBeginning)
    /// A take was finished.
    case takeEnded(TakeEnding)
    /// A fault is shown from here on.
    case faultBegan(FaultBeginning)
    /// A fault is not shown any more.
    case faultEnded(FaultEnding)
    /// A capture card was opened that is another than before, or delivers something else. Fault 1 says that it is away.
    case card(CardChange)
    /// The date was set, or it became known where it comes from.
    case clock(ClockChange)
    /// What the machine measures.
    case measured(Measurement)
    /// A phone was paired or removed, or changed the settings.
    case phone(PhoneEvent)
    /// Events were left out, because too many came in an hour.
    case leftOut(LeftOut)

    /// The recorder's start.
    public struct RecorderStart: Codable, Equatable, Sendable {
        /// Of Fieldfare.
        public var version: String
        /// The kernel's id of this boot.
        public var bootID: String
        /// How the run before ended.
        public var before: RunEnd

        /// A start.
        public init(version: String, bootID: String, before: RunEnd) {
            self.version = version
            self.bootID = bootID
            self.before = before
        }

        enum CodingKeys: String, CodingKey {
            case version, before
            case bootID = "boot_id"
        }
    }

    /// The recorder's end.
    public struct RecorderEnd: Codable, Equatable, Sendable {
        /// What asked for it.
        public var by: Cause

        /// What can ask the recorder to end.
        public enum Cause: String, Codable, Sendable {
            /// The service manager, as before a restart or when the machine is switched off.
            case signal
            /// A person, who held stop.
            case person
            /// The battery was nearly empty.
            case battery
            /// Nothing was scheduled for a while.
            case schedule
        }

        /// An end.
        public init(by cause: Cause) { by = cause }
    }

    /// A press of a button.
    public struct ButtonPress: Codable, Equatable, Sendable {
        /// `record`, `stop`, `play`, `back`, `forward`; or what was held: `lock`, `eject`, `shutdown`, `pair`, `access`.
        public var button: String

        /// A press.
        public init(_ button: String) { self.button = button }
    }

    /// The beginning of a take.
    public struct TakeBeginning: Codable, Equatable, Sendable {
        /// The take's stem.
        public var take: String

        /// A beginning.
        public init(_ take: String) { self.take = take }
    }

    /// The end of a take.
    public struct TakeEnding: Codable, Equatable, Sendable {
        /// The take's stem.
        public var take: String
        /// As the take's sidecar has it.
        public var endedBy: Sidecar.Ending?
        /// How long the take is.
        public var seconds: Double
        /// How many gaps it has.
        public var gaps: Int
        /// How much faster the card's clock ran than the kernel's, in millionths; null: not known.
        @ExplicitNull public var clockDriftPPM: Double?

        /// An end.
        public init(_ sidecar: Sidecar) {
            take = sidecar.take
            endedBy = sidecar.endedBy
            seconds = sidecar.durationSeconds
            gaps = sidecar.gaps.count
            clockDriftPPM = sidecar.clockDriftPPM
        }

        enum CodingKeys: String, CodingKey {
            case take, seconds, gaps
            case endedBy = "ended_by"
            case clockDriftPPM = "clock_drift_ppm"
        }
    }

    /// The beginning of a fault.
    public struct FaultBeginning: Codable, Equatable, Sendable {
        /// How often the fault lamp flashes.
        public var code: Int
        /// What is wrong.
        public var message: String

        /// A beginning.
        public init(code: Int, message: String) {
            self.code = code
            self.message = message
        }
    }

    /// The end of a fault.
    public struct FaultEnding: Codable, Equatable, Sendable {
        /// How often the fault lamp flashed.
        public var code: Int
        /// For how long.
        public var seconds: Double

        /// An end.
        public init(code: Int, seconds: Double) {
            self.code = code
            self.seconds = seconds
        }
    }

    /// A change of the capture card.
    public struct CardChange: Codable, Equatable, Sendable {
        /// The card's stable id.
        public var card: String
        /// The USB port that it is in; nil: it is in none, or an earlier version noted it.
        public var port: String?
        /// What it delivers, such as `48000 Hz, 2 channels, S16_LE`.
        public var format: String

        /// A change.
        public init(_ card: String, port: String? = nil, format: String) {
            self.card = card
            self.port = port
            self.format = format
        }
    }

    /// A change of the date, or of what is known of it.
    public struct ClockChange: Codable, Equatable, Sendable {
        /// Where the date comes from now. The record's own time is by the new date; its uptime shows by how much that moved.
        public var origin: ClockOrigin

        /// A change.
        public init(_ origin: ClockOrigin) { self.origin = origin }
    }

    /// Events that are missing here.
    public struct LeftOut: Codable, Equatable, Sendable {
        /// How many.
        public var count: Int

        /// Some that are missing.
        public init(_ count: Int) { self.count = count }
    }
}

/// How a run of the recorder ended, as the next one finds out.
public enum RunEnd: String, Codable, Sendable, CaseIterable {
    /// There was none before.
    case none
    /// The history of it cannot be read.
    case unknown
    /// The service manager ended it.
    case signal
    /// A person switched the kit off.
    case person
    /// The kit switched itself off: the battery was nearly empty.
    case battery
    /// The kit switched itself off between the hours of its schedule.
    case schedule
    /// The recorder crashed, or was killed, and the machine ran on.
    case crash
    /// The machine ran until its power was cut, or it stopped without a word: it was not shut down.
    case powerCut = "power-cut"
    /// The watchdog reset the machine.
    case watchdog
}
