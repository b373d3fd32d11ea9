public import Takes

/// The parameters for opening a capture card.
public struct CaptureRequest: Hashable, Sendable {
    /// The card, as the settings name it.
    public var card: CardReference
    /// The card that is expected to return: its names when it was open (`CaptureGrant.references`), the identity first.
    /// Empty if none is expected.
    ///
    /// The expected card is found in any port. Another card that was present at the same time is never mistaken for it.
    /// With `card` = `auto` no other card is opened. If the settings name a card, any card with that name is accepted,
    /// and the expected one is preferred.
    public var expected: [CardReference] = []
    /// Frames a second, or nil for the card's native rate.
    public var rateHz: Int?
    /// The channels to capture, or nil for all channels of the card.
    public var channels: ChannelChoice?
    /// The capture gain to set, or nil to leave it unchanged.
    public var gainDB: Double?
    /// True switches automatic gain control on, false switches it off, and nil leaves it unchanged.
    public var agc: Bool?
    /// The time between two wake-ups, for sound that is played while it is captured. Nil means a period that suits
    /// recording.
    public var period: Duration?

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

/// The parameters that a card granted, read back from it.
public struct CaptureGrant: Hashable, Sendable {
    /// The identity of the card: `usb:VID:PID:SERIAL`, `usb:VID:PID` while it is the only one of its model,
    /// `path:PORT`, or `card:ALSA-ID`; `pcm:NAME` if the settings name a PCM.
    public var card: String
    /// All names of the card, beginning with `card`. They are needed to find it again (`CaptureRequest.expected`).
    public var references: [CardReference]
    /// The card's name for a person.
    public var name: String
    /// The hardware's format, with the captured channels.
    public var format: StreamFormat
    /// The captured channels of the card. The layout never changes while the card is open.
    public var layout: ChannelLayout
    /// Frames between two wake-ups.
    public var periodFrames: Int
    /// The size of the card's own buffer.
    public var bufferFrames: Int
    /// The gain and the automatic gain control, read back.
    public var gain: CardGain
    /// Settings that the card refused and that a recording does not need, one sentence for each.
    public var warnings: [String]

    /// - Parameters:
    ///   - references: all names of the card; nil means only `card`.
    ///   - layout: the captured channels; nil means all.
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

    /// For a person: `48000 Hz, 2 channels, S16_LE, channels 1, 3 of 4`.
    public var summary: String { [format.summary, layout.summary].compactMap(\.self).joined(separator: ", ") }
}

extension CaptureGrant {
    /// The card and its port.
    public var place: CardPlace {
        let ports = references.compactMap { if case .path(let path) = $0, CardPlace.isPort(path) { path } else { nil } }
        return CardPlace(card: card, port: ports.first)
    }

    /// Whether both grants are of the same card, as far as their names show. The identity of a card may change when
    /// others of its model are added or removed. Its ALSA id may change too.
    public func isOfSameCard(as other: CaptureGrant) -> Bool {
        func names(_ grant: CaptureGrant) -> Set<CardReference> {
            Set(grant.references.filter { if case .cardID = $0 { false } else { true } })
        }
        return card == other.card && place.port == other.place.port
            || !names(self).isEmpty && names(self) == names(other)
    }
}

/// The reason why the gain or the automatic gain control of a card could not be set.
///
/// The description is one sentence: the operation, the card, the reason and the remedy.
public struct GainError: Error, Hashable, CustomStringConvertible {
    public var reason: Reason
    public var description: String
    /// The gain now in force, since part of the request may have succeeded, or nil if nothing was set.
    public var gain: CardGain?

    public enum Reason: Hashable, Sendable {
        /// The card has no such control.
        case noControl
        /// The card's control does not support the value.
        case outOfRange
        /// The card did not do it.
        case failed
    }

    public init(_ reason: Reason, _ description: String, gain: CardGain? = nil) {
        self.reason = reason
        self.description = description
        self.gain = gain
    }
}

/// The reason why a capture ended without `stop`.
public enum CaptureEnd: Hashable, Sendable {
    /// The card is gone.
    case cardLost(String)
    /// The card is present but fails.
    case failed(String)
}

/// Whether a better card than the open one is present.
public enum BetterCard: Hashable, Sendable {
    case none
    /// It cannot be opened yet, because another program uses it or the permission is missing.
    case occupied
    /// All names of the card, the identity first (`CaptureRequest.expected`).
    case free([CardReference])
}

/// A source of sound with its own capture thread.
///
/// One thread at a time calls `open`, `start`, `setGain` and `stop`. They may block until the card responds, so that
/// thread must not be the recorder's loop. `endedFileDescriptor` and `end` never block, and any thread may read them at
/// any time.
public protocol CaptureSource: AnyObject {
    /// Becomes readable (for `poll`) when a capture ends without `stop`, until `stop` is called. It stays the same for
    /// the life of the source.
    var endedFileDescriptor: Int32 { get }
    /// The reason why the last capture ended without `stop`. Nil while it runs, and again from the next `open` on.
    var end: CaptureEnd? { get }

    /// Opens the card. May block for seconds: the kernel asks the device, and a device may answer late or never.
    /// - Throws: an error whose description is one sentence: the operation, the card, the reason.
    func open(_ request: CaptureRequest) throws -> CaptureGrant
    /// Starts the capture thread, which writes the card's frames into `ring` until `stop`. May block as `open` does.
    func start(into ring: Ring) throws
    /// Finishes the part of `start` that the sound does not depend on. Must be called while the capture runs, which
    /// continues during the call.
    func complete()
    /// Sets the gain and the automatic gain control of the open card, also during a capture, and reads both back. Nil
    /// leaves a value unchanged. May block as `open` does, while the capture continues.
    /// - Returns: nil if the card is closed, so that nothing was set.
    func setGain(gainDB: Double?, agc: Bool?) throws(GainError) -> CardGain?
    /// Records the cards that are present together with the open one, without opening any. If the open card disappears
    /// later, none of these is mistaken for it.
    /// - Returns: whether a better card than the open one is present, unless the settings name the open one. If there
    ///   are several, it is the card with the fewest failed attempts, then the best. A card that keeps refusing is
    ///   ignored until it is unplugged.
    func look() -> BetterCard
    /// Stops the capture thread and closes the card. Does nothing if it is closed. May block for some seconds, never
    /// forever.
    func stop()
}

extension CaptureSource {
    public func complete() {}

    public func look() -> BetterCard { .none }

    /// For a card without a mixer.
    public func setGain(gainDB: Double?, agc: Bool?) throws(GainError) -> CardGain? {
        guard gainDB != nil || agc == true else { return CardGain() }
        throw GainError(.noControl, "capture: cannot set gain or automatic gain control: the card has no mixer")
    }
}
