public import Ring
public import Takes

/// A card as `fieldfare cards --json` reports it.
public struct CardReport: Codable, Equatable, Sendable {
    /// The stable id, as a sidecar stores it and the settings accept it.
    public var id: String
    /// All names that the settings may use for the card.
    public var names: [String]
    /// ALSA's card id.
    public var card: String
    /// ALSA's card number, which may differ after the next boot.
    public var index: Int
    /// The device for recording, or null if the card does not capture.
    @ExplicitNull public var device: Int?
    /// The card's name for people to read.
    public var name: String
    public var driver: String
    public var kind: CardKind
    public var captures: Bool
    public var plays: Bool
    /// All capture rates.
    public var ratesHz: [Int]
    public var formats: [SampleFormat]
    public var channels: [Int]
    /// Which formats, channel counts and rates go together.
    public var combinations: [Offers.Combination]
    /// The process that records from the card, such as `pid 812, pulseaudio`, or null if it is free.
    @ExplicitNull public var busyBy: String?
    /// Why the capture survey failed, in one sentence, or null if it did not fail.
    @ExplicitNull public var error: String?
    /// The device for playback, or null if the card does not play.
    @ExplicitNull public var playbackDevice: Int?
    public var playbackRatesHz: [Int]
    /// Which sample formats, channel counts and rates go together for playback.
    public var playbackCombinations: [Offers.Combination]
    /// The process that plays on the card, or null if it is free.
    @ExplicitNull public var playbackBusyBy: String?
    /// Why the playback survey failed, in one sentence, or null if it did not fail.
    @ExplicitNull public var playbackError: String?

    /// - Parameter capture: the survey of the capture direction, or an empty one if the card was not asked.
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
    /// Whether a request may mean this card: the card captures, and the request is `auto` or names it.
    public func isMeant(by request: CaptureRequest) -> Bool {
        captures
            && (request.card == .automatic || names.contains { CardReference($0).map(request.card.covers) == true })
    }
}
