public import Ring
public import Takes
public import Transport

/// The deck's options, fixed at its start.
public struct DeckOptions: Sendable {
    public var kit: String
    /// The folder for takes. If takes are kept on a stick that is not optional, this is the stick's folder.
    public var directory: String
    /// The kit's own folder, where it stores the highest number given so far. With nil it counts from the takes alone.
    public var stateFolder: String?
    /// The stick to keep takes on, or nil for none.
    public var stick: Stick?
    public var capture = CaptureRequest()
    /// Whether the card stays open while idle, so that a take starts to the millisecond.
    public var isListening = true
    /// The machine's memory in bytes. The ring uses at most an eighth of it.
    public var memoryBytes = 2 << 30
    /// The length of sound that is kept from before the press.
    public var preRoll = Duration.zero
    public var filter = FilterRequest()
    /// Whether the raw signal is written in addition to the filtered one.
    public var keepsUnfiltered = false
    public var playbackCard = CardReference.automatic
    /// When the playback card plays the sound of the capture card.
    public var monitor = Monitor.off
    /// The initial playback volume, a factor from 0 to 1.
    public var volume = 0.8
    /// The initial pitch and speed of playback.
    public var tuning = Tuning()
    public var rules = TransportRules()
    public var convertsToFLAC = false
    /// The most sound that may be missing on disk while the storage answers.
    public var syncPromise = Duration.seconds(1)
    /// The clock for the names of takes.
    public var nameTime = NameTime.utc
    /// The most bytes of one audio file.
    public var splitBytes: Int64 = 4000 << 20
    /// A take ends before less than this is free.
    public var reserveBytes: Int64 = 512 << 20
    /// The largest delay between a press and its report: the debounce time and a margin.
    public var pressAge = Duration.milliseconds(75)
    /// Whether storage that loses all takes at power-off is a fault.
    public var reportsVolatileStorage = false
    /// Faults that exist from the start and stay, such as bad settings.
    public var faults: [Fault] = []
    /// The kernel's `boot_id`.
    public var bootID = ""
    public var version: String

    /// When the captured sound is played on headphones, while no take is played.
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

    var captureRequest: CaptureRequest {
        var request = capture
        switch monitor {
        case .off: break
        case .recording, .always: request.period = Self.monitoringPeriod
        }
        return request
    }

    /// The ring holds a storage stall of 20 s, a margin, and the pre-roll.
    var ringDuration: Duration { .seconds(30) + preRoll }

    public init(kit: String, directory: String, version: String) {
        self.kit = kit
        self.directory = directory
        self.version = version
    }
}
