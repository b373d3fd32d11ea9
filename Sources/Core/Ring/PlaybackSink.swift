public import Takes

/// The parameters for opening a playback card.
public struct PlaybackRequest: Hashable, Sendable {
    public var card: CardReference
    /// The card that records. With `auto`, playback uses it too if it can play.
    public var companion: CardReference?
    /// The format of the take. Its rate, channels and sample format are requested first.
    public var format: StreamFormat
    /// The most sound that is queued, for sound that is played while it is recorded. Nil means half a second, so that
    /// the sound continues if the player gets no processor time for a while.
    public var latency: Duration?

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

/// The parameters that a card granted to a playback, read back from it.
public struct PlaybackGrant: Hashable, Sendable {
    /// The identity of the card, as in `CaptureGrant.card`.
    public var card: String
    /// The card's name for a person.
    public var name: String
    /// The hardware's format, and the layout of the frames that `write` takes.
    public var format: StreamFormat
    /// The most frames that can be queued.
    public var bufferFrames: Int
    /// The time from queueing a frame to playing it, while the queue is full.
    public var latency: Duration { format.duration(ofFrames: Int64(bufferFrames)) }

    public init(card: String, name: String, format: StreamFormat, bufferFrames: Int) {
        self.card = card
        self.name = name
        self.format = format
        self.bufferFrames = bufferFrames
    }
}

/// A card that is present and cannot play now, perhaps because it records.
public struct CardInUse: Error, CustomStringConvertible {
    /// One sentence: the operation, the card, the reason.
    public let description: String

    /// Wraps the card's own error.
    public init(_ error: any Error) {
        description = "\(error)"
    }
}

/// A destination for sound. Only the player's thread calls it. Only `open` and `close` wait for the card.
public protocol PlaybackSink: AnyObject {
    /// The number of times the queue ran empty since the card was opened.
    var underruns: Int { get }

    /// Opens the card at the requested rate if possible, and otherwise at the most suitable rate.
    /// - Throws: an error whose description is one sentence: the operation, the card, the reason. `CardInUse` if the
    ///   companion refuses, possibly because it is recording.
    func open(_ request: PlaybackRequest) throws -> PlaybackGrant
    /// Queues whole frames in the granted format, up to the free space. They are played right after the frames in the
    /// queue.
    /// - Returns: the number of frames that were queued.
    func write(_ frames: UnsafeRawBufferPointer) throws -> Int
    /// The number of queued frames that were not played yet; 0 after the queue ran empty.
    func queuedFrames() throws -> Int
    /// Removes the last queued frames, so that others can be written in their place.
    /// - Parameter frameCount: the number of frames at the front that stay queued.
    /// - Returns: the number of removed frames; 0 if the card cannot do it.
    func takeBack(keeping frameCount: Int) throws -> Int
    /// Stops the sound at once and drops the queue. The next `write` starts the card again.
    func drop()
    /// Closes the card and drops the queue. Does nothing if it is closed.
    func close()
}
