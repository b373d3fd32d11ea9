public import Takes

/// What a recording asks of a card.
public struct CaptureRequest: Hashable, Sendable {
    /// Which card.
    public var card: CardReference
    /// Frames a second; nil: the card's native rate.
    public var rateHz: Int?
    /// Samples a frame; nil: as many as the card has.
    public var channels: Int?
    /// The capture gain to set; nil: as it is.
    public var gainDB: Double?
    /// Whether automatic gain control is wanted; nil: as it is.
    public var agc: Bool?

    /// A request; what is left out is the card's own.
    public init(
        card: CardReference = .automatic, rateHz: Int? = nil, channels: Int? = nil, gainDB: Double? = nil,
        agc: Bool? = nil
    ) {
        self.card = card
        self.rateHz = rateHz
        self.channels = channels
        self.gainDB = gainDB
        self.agc = agc
    }
}

/// What a card granted: read back from it, never assumed.
public struct CaptureGrant: Hashable, Sendable {
    /// The card's stable id.
    public var card: String
    /// What a person would call it.
    public var name: String
    /// What the hardware runs at.
    public var format: StreamFormat
    /// Frames between two wake-ups.
    public var periodFrames: Int
    /// Frames that the card's own buffer holds.
    public var bufferFrames: Int
    /// The capture gain, read back; nil: the card has no such control.
    public var gainDB: Double?
    /// Whether automatic gain control is on, read back; nil: the card has none.
    public var agc: Bool?
    /// What could not be had and does not stop a recording, a sentence each.
    public var warnings: [String]

    /// What a card granted.
    public init(
        card: String, name: String, format: StreamFormat, periodFrames: Int, bufferFrames: Int, gainDB: Double? = nil,
        agc: Bool? = nil, warnings: [String] = []
    ) {
        self.card = card
        self.name = name
        self.format = format
        self.periodFrames = periodFrames
        self.bufferFrames = bufferFrames
        self.gainDB = gainDB
        self.agc = agc
        self.warnings = warnings
    }
}

/// Why a capture ended by itself.
public enum CaptureEnd: Hashable, Sendable {
    /// The card is gone.
    case cardLost(String)
    /// The card is there and fails.
    case failed(String)
}

/// Where sound comes from. Called from ordinary threads only; the capture thread behind it is its own affair.
public protocol CaptureSource: AnyObject {
    /// Readable (for `poll`) once a capture has ended by itself, until `stop`.
    var endedFileDescriptor: Int32 { get }
    /// Why the capture ended by itself; nil while it runs.
    var end: CaptureEnd? { get }

    /// Opens the card.
    /// - Throws: an error whose description is one sentence: what, on which card, why.
    func open(_ request: CaptureRequest) throws -> CaptureGrant
    /// Starts the capture thread, which writes what the card says into `ring` until `stop`.
    func start(into ring: Ring) throws
    /// Stops the capture thread and closes the card. Does nothing if it is closed.
    func stop()
}
