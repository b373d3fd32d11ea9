public import Takes

/// A card as `fieldfare cards --json` tells it.
public struct CardReport: Codable, Equatable, Sendable {
    /// The stable id, as a sidecar stores it and the settings take it.
    public var id: String
    /// Everything that the settings may call it.
    public var names: [String]
    /// ALSA's id.
    public var card: String
    /// ALSA's number of the card, which the next boot may change.
    public var index: Int
    /// The device that a recording is made from; null: it does not capture.
    @ExplicitNull public var device: Int?
    /// What a person would call it.
    public var name: String
    /// The driver's name.
    public var driver: String
    /// What sort of card it is.
    public var kind: CardKind
    /// Whether it can record.
    public var captures: Bool
    /// Whether it can play.
    public var plays: Bool
    /// All rates that it has.
    public var ratesHz: [Int]
    /// All sample formats that it has.
    public var formats: [SampleFormat]
    /// All channel counts that it has.
    public var channels: [Int]
    /// Which of these go together.
    public var combinations: [Offers.Combination]
    /// Who holds it: `pid 812, pulseaudio`; null: it is free.
    @ExplicitNull public var busyBy: String?
    /// Why it could not be asked, in one sentence; null: it could.
    @ExplicitNull public var error: String?

    /// A card, with what was found when it was asked.
    public init(_ card: CardDescription, offers: Offers?, busyBy: PCMOwner? = nil, error: String? = nil) {
        id = card.stableID.description
        names = card.references.map(\.description)
        self.card = card.alsaID
        index = card.index
        device = card.captureDevice
        name = card.name
        driver = card.driver
        kind = card.kind
        captures = !card.captureDevices.isEmpty
        plays = !card.playbackDevices.isEmpty
        ratesHz = offers?.ratesHz ?? []
        formats = offers?.formats ?? []
        channels = offers?.channels ?? []
        combinations = offers?.combinations ?? []
        self.busyBy = busyBy?.summary
        self.error = error
    }

    enum CodingKeys: String, CodingKey {
        case id, names, card, index, device, name, driver, kind, captures, plays, formats, channels, combinations, error
        case ratesHz = "rates_hz"
        case busyBy = "busy_by"
    }
}
