public import Takes
public import Transport

public enum HistoryEvent: Equatable, Sendable {
    case started(RecorderStart)
    /// The recorder ended on request.
    case ended(RecorderEnd)
    /// A button was pressed or held.
    case pressed(ButtonPress)
    case takeBegan(TakeBeginning)
    case takeEnded(TakeEnding)
    /// A fault appeared.
    case faultBegan(FaultBeginning)
    /// A fault disappeared.
    case faultEnded(FaultEnding)
    /// Another capture card was opened, or the card delivers another format. Fault 1 reports a missing card.
    case card(CardChange)
    /// The date was set, or its source became known.
    case clock(ClockChange)
    case measured(Measurement)
    /// A phone was paired or removed, or changed the settings.
    case phone(PhoneEvent)
    /// Events were omitted because there were too many in an hour.
    case leftOut(LeftOut)

    public struct RecorderStart: Codable, Equatable, Sendable {
        /// The version of Fieldfare.
        public var version: String
        /// The kernel's id of this boot.
        public var bootID: String
        /// How the previous run ended.
        public var before: RunEnd

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

    public struct RecorderEnd: Codable, Equatable, Sendable {
        public var by: Cause

        public enum Cause: String, Codable, Sendable {
            /// The service manager, for example before a restart or a power-off.
            case signal
            /// A person held stop.
            case person
            /// The battery was nearly empty.
            case battery
            /// Nothing was scheduled for a while.
            case schedule
        }

        public init(by cause: Cause) { by = cause }
    }

    public struct ButtonPress: Codable, Equatable, Sendable {
        /// `record`, `stop`, `play`, `back`, `forward`, or the action of a held button: `lock`, `eject`, `shutdown`,
        /// `pair`, `access`.
        public var button: String

        public init(_ button: String) { self.button = button }
    }

    public struct TakeBeginning: Codable, Equatable, Sendable {
        /// The take's stem.
        public var take: String

        public init(_ take: String) { self.take = take }
    }

    public struct TakeEnding: Codable, Equatable, Sendable {
        /// The take's stem.
        public var take: String
        /// As in the take's sidecar.
        public var endedBy: Sidecar.Ending?
        /// The take's duration.
        public var seconds: Double
        public var gaps: Int
        /// How much faster the card's clock ran than the kernel's, in parts per million, or null if unknown.
        @ExplicitNull public var clockDriftPPM: Double?

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

    public struct FaultBeginning: Codable, Equatable, Sendable {
        /// The number of flashes of the fault lamp.
        public var code: Int
        public var message: String

        public init(code: Int, message: String) {
            self.code = code
            self.message = message
        }
    }

    public struct FaultEnding: Codable, Equatable, Sendable {
        /// The number of flashes of the fault lamp.
        public var code: Int
        /// How long the fault was shown.
        public var seconds: Double

        public init(code: Int, seconds: Double) {
            self.code = code
            self.seconds = seconds
        }
    }

    public struct CardChange: Codable, Equatable, Sendable {
        /// The card's stable id.
        public var card: String
        /// The card's USB port, or nil if it is not a USB card or an earlier version wrote the record.
        public var port: String?
        /// For example `48000 Hz, 2 channels, S16_LE`.
        public var format: String

        public init(_ card: String, port: String? = nil, format: String) {
            self.card = card
            self.port = port
            self.format = format
        }
    }

    /// A change of the date, or of its known source.
    public struct ClockChange: Codable, Equatable, Sendable {
        /// The new source of the date. The record's own time uses the new date; its uptime shows how far the date
        /// moved.
        public var origin: ClockOrigin

        public init(_ origin: ClockOrigin) { self.origin = origin }
    }

    /// A gap in the history.
    public struct LeftOut: Codable, Equatable, Sendable {
        /// The number of omitted events.
        public var count: Int

        public init(_ count: Int) { self.count = count }
    }
}

/// How a run of the recorder ended, as the next run determines.
public enum RunEnd: String, Codable, Sendable, CaseIterable {
    /// There was no earlier run.
    case none
    /// The history of the run cannot be read.
    case unknown
    /// The service manager ended it.
    case signal
    /// A person switched the kit off.
    case person
    /// The kit switched itself off because the battery was nearly empty.
    case battery
    /// The kit switched itself off between its scheduled hours.
    case schedule
    /// The recorder crashed or was killed, and the machine kept running.
    case crash
    /// The machine lost power or stopped without a shutdown.
    case powerCut = "power-cut"
    case watchdog
}
