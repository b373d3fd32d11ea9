public import Ring
public import Takes

/// A card as `fieldfare cards --json` reports it.
public struct CardReport: Codable, Equatable, Sendable {
    /// The stable id, as a sidecar stores it and the settings take it.
    public var id: String
    /// Every name that the settings may use for it.
    public var names: [String]
    /// ALSA's id.
    public var card: String
    /// ALSA's number of the card, which may differ after the next boot.
    public var index: Int
    /// The device that a recording is made from; null: it does not capture.
    @ExplicitNull public var device: Int?
    /// Its name for a person to read.
    public var name: String
    /// The driver's name.
    public var driver: String
    /// What sort of card it is.
    public var kind: CardKind
    /// Whether it can record.
    public var captures: Bool
    /// Whether it can play.
    public var plays: Bool
    /// All rates that it has to record at.
    public var ratesHz: [Int]
    /// All sample formats that it records.
    public var formats: [SampleFormat]
    /// All channel counts that it records.
    public var channels: [Int]
    /// Which of these go together.
    public var combinations: [Offers.Combination]
    /// Who records from it: `pid 812, pulseaudio`; null: it is free.
    @ExplicitNull public var busyBy: String?
    /// Why it could not be asked, in one sentence; null: it could.
    @ExplicitNull public var error: String?
    /// The device that a take is played on; null: it does not play.
    @ExplicitNull public var playbackDevice: Int?
    /// All rates that it has to play at.
    public var playbackRatesHz: [Int]
    /// Which sample formats, channel counts and rates go together when it plays.
    public var playbackCombinations: [Offers.Combination]
    /// Who plays on it; null: it is free.
    @ExplicitNull public var playbackBusyBy: String?
    /// Why it could not be asked what it plays, in one sentence; null: it could.
    @ExplicitNull public var playbackError: String?

    /// A card, with what was found when it was asked; for one that was not asked, without what it offers.
    public init(_ card: CardDescription, capture: CardSurvey = CardSurvey(), playback: CardSurvey = CardSurvey()) {
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
        ratesHz = capture.offers?.ratesHz ?? []
        formats = capture.offers?.formats ?? []
        channels = capture.offers?.channels ?? []
        combinations = capture.offers?.combinations ?? []
        busyBy = capture.busyBy?.summary
        error = capture.error
        playbackDevice = card.playbackDevice
        playbackRatesHz = playback.offers?.ratesHz ?? []
        playbackCombinations = playback.offers?.combinations ?? []
        playbackBusyBy = playback.busyBy?.summary
        playbackError = playback.error
    }

    enum CodingKeys: String, CodingKey {
        case id, names, card, index, device, name, driver, kind, captures, plays, formats, channels, combinations, error
        case ratesHz = "rates_hz"
        case busyBy = "busy_by"
        case playbackDevice = "playback_device"
        case playbackRatesHz = "playback_rates_hz"
        case playbackCombinations = "playback_combinations"
        case playbackBusyBy = "playback_busy_by"
        case playbackError = "playback_error"
    }
}

extension CardReport {
    /// Whether a request may mean this card: any that captures, or one that it names.
    public func isMeant(by request: CaptureRequest) -> Bool {
        captures
            && (request.card == .automatic || names.contains { CardReference($0).map(request.card.covers) == true })
    }
}
