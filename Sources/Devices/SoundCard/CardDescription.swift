public import Takes

/// The kind of a card. The cases are in order of preference for recording.
public enum CardKind: String, Codable, CaseIterable, Comparable, Sendable {
    case usb
    /// Wired to the board's own I²S bus: a HAT, or a codec on the board.
    case hat
    /// Any other real card, such as a PC's own.
    case other
    case hdmi
    /// `snd-aloop`: it captures the sound that is played into it.
    case loopback
    /// `snd-dummy`: captures silence.
    case dummy

    /// Whether it captures sound from outside.
    public var isMicrophone: Bool { self < .hdmi }

    /// Whether `left` is better for recording.
    public static func < (left: CardKind, right: CardKind) -> Bool {
        allCases.firstIndex(of: left)! < allCases.firstIndex(of: right)!
    }
}

public struct CardDescription: Hashable, Sendable {
    /// ALSA's card number, which may differ after the next boot.
    public var index: Int
    /// ALSA's card id, such as `Loopback`.
    public var alsaID: String
    /// The name that the driver gives to the card, for people to read.
    public var name: String
    public var driver: String
    public var kind: CardKind
    /// All names of the card, never empty. The first one identifies it among the present cards:
    ///
    /// - a USB card: its serial number, or its model if it is the only card of that model, or its port;
    /// - any other card: its ALSA id.
    public var references: [CardReference]
    /// The kernel's number of its USB device, which changes each time that it is plugged in. Nil if it is not a USB
    /// device.
    var deviceNumber: Int?
    /// The numbers of its capture PCM devices, ascending.
    public var captureDevices: [Int]
    /// The numbers of its playback PCM devices, ascending.
    public var playbackDevices: [Int]

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

    /// The first reference, which identifies the card in a take's sidecar. A reboot does not change it.
    public var stableID: CardReference { references.first ?? .cardID(alsaID) }

    /// The device for recording: the first, but the second of a loopback. Programs play into a loopback's first device,
    /// and the sound is captured from the second.
    public var captureDevice: Int? {
        kind == .loopback && captureDevices.contains(1) ? 1 : captureDevices.first
    }

    /// The device for playback: the one with the number of the capture device, so that the other side of a loopback
    /// stays free; otherwise the first.
    public var playbackDevice: Int? {
        captureDevice.flatMap { playbackDevices.contains($0) ? $0 : nil } ?? playbackDevices.first
    }

    public func device(for direction: PCMDirection) -> Int? {
        switch direction {
        case .capture: captureDevice
        case .playback: playbackDevice
        }
    }

    /// ALSA's name of a device of the card, without plug-ins: `hw:CARD=Mic`, `hw:CARD=Loopback,DEV=1`.
    public func hardwareName(device: Int) -> String {
        "hw:CARD=\(alsaID)" + (device == 0 ? "" : ",DEV=\(device)")
    }

    /// Whether `reference` names this card. `auto` and `pcm:` name no card.
    public func matches(_ reference: CardReference) -> Bool {
        references.contains { reference.covers($0) }
    }
}
