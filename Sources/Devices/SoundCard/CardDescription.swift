public import Takes

/// What sort of card it is, best for recording first.
public enum CardKind: String, Codable, CaseIterable, Comparable, Sendable {
    /// Plugged into USB.
    case usb
    /// Wired to the board's own I²S bus: a HAT, or a codec on the board.
    case hat
    /// Anything else that is real, such as a PC's own card.
    case other
    /// The sound of a video connector.
    case hdmi
    /// `snd-aloop`: what is played into it is captured from it.
    case loopback
    /// `snd-dummy`: captures silence.
    case dummy

    /// Whether it is made for recording from the outside.
    public var isMicrophone: Bool { self < .hdmi }

    /// Is better for recording.
    public static func < (left: CardKind, right: CardKind) -> Bool {
        allCases.firstIndex(of: left)! < allCases.firstIndex(of: right)!
    }
}

/// A sound card that is present.
public struct CardDescription: Hashable, Sendable {
    /// ALSA's number of it, which may differ after the next boot.
    public var index: Int
    /// ALSA's id of it, such as `Loopback`.
    public var alsaID: String
    /// The name that its driver gives it, for a person to read.
    public var name: String
    /// The driver's name.
    public var driver: String
    /// What sort of card it is.
    public var kind: CardKind
    /// Everything that names it, never empty. The first identifies it among the cards that are present:
    ///
    /// - a USB card: by its serial number, else by its model while it is the only one of that model, else by its port;
    /// - another card: by its ALSA id.
    public var references: [CardReference]
    /// The kernel's number of its USB device, another one each time that it is plugged in; nil: it has none.
    var deviceNumber: Int?
    /// The numbers of its PCM devices that capture, ascending.
    public var captureDevices: [Int]
    /// The numbers of its PCM devices that play, ascending.
    public var playbackDevices: [Int]

    /// A card.
    public init(
        index: Int, alsaID: String, name: String, driver: String, kind: CardKind, references: [CardReference],
        captureDevices: [Int], playbackDevices: [Int] = []
    ) {
        self.index = index
        self.alsaID = alsaID
        self.name = name
        self.driver = driver
        self.kind = kind
        self.references = references.isEmpty ? [.cardID(alsaID)] : references
        self.captureDevices = captureDevices
        self.playbackDevices = playbackDevices
    }

    /// How a take's sidecar names it: by what identifies it, the first of its references. A reboot does not change it.
    public var stableID: CardReference { references.first ?? .cardID(alsaID) }

    /// The device that a recording is made from: the first. Of a loopback it is the second: programs play into the first, and
    /// what they play is captured from the second.
    public var captureDevice: Int? {
        kind == .loopback && captureDevices.contains(1) ? 1 : captureDevices.first
    }

    /// The device that a take is played on: the one with the number of the device that records, so that the other side of a
    /// loopback stays free; else the first.
    public var playbackDevice: Int? {
        captureDevice.flatMap { playbackDevices.contains($0) ? $0 : nil } ?? playbackDevices.first
    }

    /// The device that is used for `direction`; nil: it has none.
    public func device(for direction: PCMDirection) -> Int? {
        switch direction {
        case .capture: captureDevice
        case .playback: playbackDevice
        }
    }

    /// ALSA's name of a device of it, without plug-ins: `hw:CARD=Mic`, `hw:CARD=Loopback,DEV=1`.
    public func hardwareName(device: Int) -> String {
        "hw:CARD=\(alsaID)" + (device == 0 ? "" : ",DEV=\(device)")
    }

    /// Whether `reference` names this card. `auto` and `pcm:` name none.
    public func matches(_ reference: CardReference) -> Bool {
        references.contains { reference.covers($0) }
    }
}
