public import Takes

/// What a playback asks of a card.
public struct PlaybackRequest: Hashable, Sendable {
    /// Which card.
    public var card: CardReference
    /// The card that records: `auto` plays on it too, if it plays.
    public var companion: CardReference?
    /// What the take is: its rate, channels and sample format are asked for first.
    public var format: StreamFormat
    /// The most sound that is queued, for sound that is played as it is recorded; nil: half a second, so that a player that gets
    /// no processor time for a while is not noticed.
    public var latency: Duration?

    /// A request to play what is in `format`.
    public init(
        card: CardReference = .automatic, companion: CardReference? = nil, format: StreamFormat,
        latency: Duration? = nil
    ) {
        self.card = card
        self.companion = companion
        self.format = format
        self.latency = latency
    }
}

/// What a card granted to a playback: read back from it, never assumed.
public struct PlaybackGrant: Hashable, Sendable {
    /// What identifies the card, as in `CaptureGrant.card`.
    public var card: String
    /// The card's name for a person to read.
    public var name: String
    /// What the hardware runs at, and the layout of the frames that it is given.
    public var format: StreamFormat
    /// The most frames that can be queued.
    public var bufferFrames: Int
    /// How long after it is queued a frame is played, while the queue is full.
    public var latency: Duration { format.duration(ofFrames: Int64(bufferFrames)) }

    /// What a card granted.
    public init(card: String, name: String, format: StreamFormat, bufferFrames: Int) {
        self.card = card
        self.name = name
        self.format = format
        self.bufferFrames = bufferFrames
    }
}

/// A card that is present and cannot play now, perhaps because it records.
public struct CardInUse: Error, CustomStringConvertible {
    /// One sentence: what, on which card, why.
    public let description: String

    /// The card's own error.
    public init(_ error: any Error) {
        description = "\(error)"
    }
}

/// Where sound is played. Called from the player's thread only; only `open` and `close` wait for the card.
public protocol PlaybackSink: AnyObject {
    /// How often the queue ran dry since the card was opened.
    var underruns: Int { get }

    /// Opens the card at the rate that is asked for if it has it, else at the one that serves best.
    /// - Throws: an error whose description is one sentence: what, on which card, why. `CardInUse` if it is the companion that
    ///   refuses, and its own recording may be why.
    func open(_ request: PlaybackRequest) throws -> PlaybackGrant
    /// Queues whole frames in the granted format, as many as there is room for. They are played right after what is queued.
    /// - Returns: how many frames were queued.
    func write(_ frames: UnsafeRawBufferPointer) throws -> Int
    /// Frames that are queued and not played yet; 0 when the queue ran dry.
    func queuedFrames() throws -> Int
    /// Takes the last queued frames back, so that others can be written in their place.
    /// - Parameter frameCount: how many of the frames that are played next stay queued.
    /// - Returns: how many were taken back; 0 if the card cannot.
    func takeBack(keeping frameCount: Int) throws -> Int
    /// Silence at once: what is queued is not played any more. The next `write` starts the card again.
    func drop()
    /// Closes the card; what is queued is not played any more. Does nothing if it is closed.
    func close()
}
