/// The gain and the automatic gain control of an open card, as they were read back from its mixer.
public struct CardGain: Hashable, Sendable {
    /// The capture gain; nil: the card has no such control.
    public var gainDB: Double?
    /// What the gain can be set to; nil: the card has no such control.
    public var rangeDB: GainRange?
    /// Whether automatic gain control is on; nil: the card has none.
    public var agc: Bool?

    /// The gain of a card; what is left out it does not have.
    public init(gainDB: Double? = nil, rangeDB: GainRange? = nil, agc: Bool? = nil) {
        self.gainDB = gainDB
        self.rangeDB = rangeDB
        self.agc = agc
    }
}

/// What a card's capture gain can be set to, in dB.
public struct GainRange: Codable, Hashable, Sendable {
    /// The least gain at which the card is not muted.
    public var min: Double
    /// The greatest gain.
    public var max: Double
    /// From one gain to the next; nil: the steps differ, or are not known.
    public var step: Double?

    /// A range of gains.
    public init(min: Double, max: Double, step: Double? = nil) {
        self.min = min
        self.max = max
        self.step = step
    }

    /// Whether it has a gain, to a hundredth of a dB.
    public func contains(_ gainDB: Double) -> Bool { gainDB >= min - 0.005 && gainDB <= max + 0.005 }
}

/// A capture gain as a person asks for it.
public enum GainSetting: Hashable, Sendable {
    /// The card's own level is left as it is.
    case keep
    case decibels(Double)

    /// What can be asked for, in dB: more than any card has.
    public static let range = -150.0...150.0

    /// The gain to set on a card; nil: none.
    public var decibels: Double? {
        switch self {
        case .keep: nil
        case .decibels(let decibels): decibels
        }
    }
}

/// A number of decibels as a sentence has it, without needless zeros: `12`, `-7.5`.
public func decibelText(_ decibels: Double) -> String {
    let hundredths = (decibels * 100).rounded() / 100
    return hundredths == hundredths.rounded() ? "\(Int(hundredths))" : "\(hundredths)"
}
