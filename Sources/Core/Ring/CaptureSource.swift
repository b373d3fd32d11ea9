public import Takes

/// What a recording asks of a card.
public struct CaptureRequest: Hashable, Sendable {
    /// Which card, as the settings name it.
    public var card: CardReference
    /// The card that is expected back: its names when it was open (`CaptureGrant.references`), the identity first. Empty: none.
    ///
    /// It is found again in any port, but no card that was there beside it is taken for it. With `card` = `auto` no other card is
    /// opened. A card that the settings name is used as it is: each card with that name will do, the expected one first.
    public var expected: [CardReference] = []
    /// Frames a second; nil: the card's native rate.
    public var rateHz: Int?
    /// The channels to capture, or nil for all channels of the card.
    public var channels: ChannelChoice?
    /// The capture gain to set; nil: it is left as it is.
    public var gainDB: Double?
    /// True to switch automatic gain control on, false to switch it off, or nil to leave it as it is.
    public var agc: Bool?
    /// The time between two wake-ups, for sound that is played as it is captured; nil: as long as serves a recording.
    public var period: Duration?

    /// A request; what is left out is the card's own choice.
    public init(
        card: CardReference = .automatic, rateHz: Int? = nil, channels: ChannelChoice? = nil, gainDB: Double? = nil,
        agc: Bool? = nil, period: Duration? = nil
    ) {
        self.card = card
        self.rateHz = rateHz
        self.channels = channels
        self.gainDB = gainDB
        self.agc = agc
        self.period = period
    }

    /// The request that opens the card of `grant` again, at the same rate and with the same channels.
    public func again(_ grant: CaptureGrant) -> CaptureRequest {
        var request = self
        request.expected = grant.references
        request.rateHz = grant.format.rateHz
        request.channels = .layout(grant.layout)
        return request
    }
}

/// What a card granted: read back from it, never assumed.
public struct CaptureGrant: Hashable, Sendable {
    /// What identifies the card: `usb:VID:PID:SERIAL`, `usb:VID:PID` while it is the only one of its model, `path:PORT`, or
    /// `card:ALSA-ID`; `pcm:NAME` where the settings name a PCM.
    public var card: String
    /// Everything that names the card, `card` first: what is needed to find it again (`CaptureRequest.expected`).
    public var references: [CardReference]
    /// The card's name for a person to read.
    public var name: String
    /// What the hardware runs at, with the channels that are captured.
    public var format: StreamFormat
    /// Which of the card's channels are captured. It never changes while the card is open.
    public var layout: ChannelLayout
    /// Frames between two wake-ups.
    public var periodFrames: Int
    /// Frames that the card's own buffer holds.
    public var bufferFrames: Int
    /// The gain and the automatic gain control, read back.
    public var gain: CardGain
    /// What the card refused and a recording can do without, a sentence each.
    public var warnings: [String]

    /// What a card granted.
    /// - Parameters:
    ///   - references: everything that names the card; nil: `card` alone.
    ///   - layout: which of its channels are captured; nil: all.
    public init(
        card: String, references: [CardReference]? = nil, name: String, format: StreamFormat,
        layout: ChannelLayout? = nil, periodFrames: Int, bufferFrames: Int, gain: CardGain = CardGain(),
        warnings: [String] = []
    ) {
        self.card = card
        self.references = references ?? CardReference(card).map { [$0] } ?? []
        self.name = name
        self.format = format
        self.layout = layout ?? ChannelLayout(all: format.channels)
        self.periodFrames = periodFrames
        self.bufferFrames = bufferFrames
        self.gain = gain
        self.warnings = warnings
    }

    /// As a person reads it: `48000 Hz, 2 channels, S16_LE, channels 1, 3 of 4`.
    public var summary: String { [format.summary, layout.summary].compactMap(\.self).joined(separator: ", ") }
}

extension CaptureGrant {
    /// The card, and the port that it is in.
    public var place: CardPlace {
        let ports = references.compactMap { if case .path(let path) = $0, CardPlace.isPort(path) { path } else { nil } }
        return CardPlace(card: card, port: ports.first)
    }

    /// Whether the card of another grant is this one, as far as its names say. What identifies it may have changed, since others of its
    /// model came or went; so may ALSA's id of it.
    public func isOfSameCard(as other: CaptureGrant) -> Bool {
        func names(_ grant: CaptureGrant) -> Set<CardReference> {
            Set(grant.references.filter { if case .cardID = $0 { false } else { true } })
        }
        return card == other.card && place.port == other.place.port
            || !names(self).isEmpty && names(self) == names(other)
    }
}

/// Why the gain or the automatic gain control of a card could not be set.
///
/// Its description is one sentence: what, on which card, why, and what to do.
public struct GainError: Error, Hashable, CustomStringConvertible {
    /// What kind of reason it is.
    public var reason: Reason
    /// The sentence.
    public var description: String
    /// The gain now in force, since a part of the request may have succeeded, or nil if nothing was set.
    public var gain: CardGain?

    /// The kinds of reasons.
    public enum Reason: Hashable, Sendable {
        /// The card has no such control.
        case noControl
        /// The card's control cannot be set to that.
        case outOfRange
        /// The card did not do it.
        case failed
    }

    /// An error of a kind, in one sentence.
    public init(_ reason: Reason, _ description: String, gain: CardGain? = nil) {
        self.reason = reason
        self.description = description
        self.gain = gain
    }
}

/// Why a capture ended by itself.
public enum CaptureEnd: Hashable, Sendable {
    /// The card is gone.
    case cardLost(String)
    /// The card is there and fails.
    case failed(String)
}

/// Whether a better card is there than the one that is open.
public enum BetterCard: Hashable, Sendable {
    case none
    /// It cannot be opened yet: another program holds it, or the right to open it is not there.
    case occupied
    /// Everything that names it, what identifies it first (`CaptureRequest.expected`).
    case free([CardReference])
}

/// Where sound comes from, with a capture thread of its own.
///
/// `open`, `start`, `setGain` and `stop` are called by one thread at a time. They may block for as long as the card takes, so that thread
/// must not be the recorder's loop. `endedFileDescriptor` and `end` never block, and any thread may read them at any time.
public protocol CaptureSource: AnyObject {
    /// Readable (for `poll`) once a capture has ended by itself, until `stop`. The same for the life of the source.
    var endedFileDescriptor: Int32 { get }
    /// The reason why the last capture ended by itself, or nil while it runs and from the next `open` on.
    var end: CaptureEnd? { get }

    /// Opens the card. May block for seconds: the kernel asks the device, and a device may answer late or never.
    /// - Throws: an error whose description is one sentence: what, on which card, why.
    func open(_ request: CaptureRequest) throws -> CaptureGrant
    /// Starts the capture thread, which writes what the card delivers into `ring` until `stop`. May block as `open` does.
    func start(into ring: Ring) throws
    /// Does what `start` left for later because no sound depends on it. To be called once the capture runs; it goes on meanwhile.
    func complete()
    /// Sets the gain and the automatic gain control of the open card, also while it captures, and reads both back. What is nil is
    /// left as it is. May block as `open` does; the capture goes on.
    /// - Returns: nil: the card is closed, and nothing was set.
    func setGain(gainDB: Double?, agc: Bool?) throws(GainError) -> CardGain?
    /// Takes note of which cards are there, beside the one that is open; none is opened. Should the open one be gone later, none of them
    /// is taken for it.
    /// - Returns: whether a better card is there than the open one, if that was not named. Of several it is the one that was refused
    ///   least, the best first; one that goes on being refused is left out until it was unplugged.
    func look() -> BetterCard
    /// Stops the capture thread and closes the card. Does nothing if it is closed. May block for some seconds, never forever.
    func stop()
}

extension CaptureSource {
    /// Nothing was left.
    public func complete() {}

    /// There is no other card.
    public func look() -> BetterCard { .none }

    /// It has no mixer.
    public func setGain(gainDB: Double?, agc: Bool?) throws(GainError) -> CardGain? {
        guard gainDB != nil || agc == true else { return CardGain() }
        throw GainError(.noControl, "capture: cannot set gain or automatic gain control: the card has no mixer")
    }
}
