public import Ring
public import Takes
public import Transport

/// What a deck is told once, at its start.
public struct DeckOptions: Sendable {
    /// The kit's name.
    public var kit: String
    /// Where takes are kept.
    public var directory: String
    /// The card that is wanted.
    public var capture = CaptureRequest()
    /// Whether the card stays open while idle, so that a take starts to the millisecond.
    public var isListening = true
    /// What is kept from before the press.
    public var preRoll = Duration.zero
    /// The capture filter.
    public var filter = FilterRequest()
    /// Whether the raw signal is written beside the filtered one.
    public var keepsUnfiltered = false
    /// The card that plays.
    public var playbackCard = CardReference.automatic
    /// The volume that playing begins with, a factor from 0 to 1.
    public var volume = 0.8
    /// How far back and forward go while playing.
    public var skip = Duration.seconds(5)
    /// Whether finished takes are converted to FLAC.
    public var convertsToFLAC = false
    /// The most sound that may be missing on disk while the storage answers.
    public var syncPromise = Duration.seconds(1)
    /// The most bytes of one audio file.
    public var splitBytes: Int64 = 4000 << 20
    /// A take ends before less than this is free.
    public var reserveBytes: Int64 = 512 << 20
    /// How much older than the moment it is known a press may be: the debounce time and some more.
    public var pressAge = Duration.milliseconds(215)
    /// What is wrong from the start and stays so, such as bad settings.
    public var faults: [Fault] = []
    /// The kernel's `boot_id`.
    public var bootID = ""
    /// The version of Fieldfare.
    public var version: String

    /// Options with the settings' defaults.
    public init(kit: String, directory: String, version: String) {
        self.kit = kit
        self.directory = directory
        self.version = version
    }
}
