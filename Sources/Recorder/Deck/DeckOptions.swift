public import Ring
public import Takes
public import Transport

/// What a deck is given once, at its start.
public struct DeckOptions: Sendable {
    /// The kit's name.
    public var kit: String
    /// Where takes are kept; if that is a stick, its folder unless it is optional.
    public var directory: String
    /// The kit's own folder, where it keeps the highest number that it has given; nil: it has none, and counts by the takes alone.
    public var stateFolder: String?
    /// The stick that takes are to be kept on; nil: none is asked for.
    public var stick: Stick?
    /// The card that is requested.
    public var capture = CaptureRequest()
    /// Whether the card stays open while idle, so that a take starts to the millisecond.
    public var isListening = true
    /// Bytes of memory that the machine has: the ring takes an eighth of it at most.
    public var memoryBytes = 2 << 30
    /// What is kept from before the press.
    public var preRoll = Duration.zero
    /// The capture filter.
    public var filter = FilterRequest()
    /// Whether the raw signal is written beside the filtered one.
    public var keepsUnfiltered = false
    /// The card that plays.
    public var playbackCard = CardReference.automatic
    /// When the card that plays carries what the other card captures.
    public var monitor = Monitor.off
    /// The volume that playing begins with, a factor from 0 to 1.
    public var volume = 0.8
    /// The pitch and the speed that playing begins with.
    public var tuning = Tuning()
    /// The times of the transport.
    public var rules = TransportRules()
    /// Whether finished takes are converted to FLAC.
    public var convertsToFLAC = false
    /// The most sound that may be missing on disk while the storage answers.
    public var syncPromise = Duration.seconds(1)
    /// The clock by which takes are named.
    public var nameTime = NameTime.utc
    /// The most bytes of one audio file.
    public var splitBytes: Int64 = 4000 << 20
    /// A take ends before less than this is free.
    public var reserveBytes: Int64 = 512 << 20
    /// How much older than the moment it is known a press may be: the debounce time and some more.
    public var pressAge = Duration.milliseconds(75)
    /// Whether storage that forgets all takes with the power is a fault.
    public var reportsVolatileStorage = false
    /// What is wrong from the start and stays so, such as bad settings.
    public var faults: [Fault] = []
    /// The kernel's `boot_id`.
    public var bootID = ""
    /// The version of Fieldfare.
    public var version: String

    /// When the capture is played, for headphones, while no take is played.
    public enum Monitor: Sendable {
        case off
        /// While a take is recorded.
        case recording
        /// Whenever the card is open.
        case always

        func isWanted(isRecording: Bool) -> Bool {
            switch self {
            case .off: false
            case .recording: isRecording
            case .always: true
            }
        }
    }

    /// The period of the capture card while it may be monitored.
    static let monitoringPeriod = Duration.milliseconds(20)

    /// What is asked of the capture card.
    var captureRequest: CaptureRequest {
        var request = capture
        switch monitor {
        case .off: break
        case .recording, .always: request.period = Self.monitoringPeriod
        }
        return request
    }

    /// How much sound the ring is to hold: a storage stall of 20 s, some more, and the pre-roll.
    var ringDuration: Duration { .seconds(30) + preRoll }

    /// Options with the settings' defaults.
    public init(kit: String, directory: String, version: String) {
        self.kit = kit
        self.directory = directory
        self.version = version
    }
}
