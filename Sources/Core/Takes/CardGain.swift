/// The gain and the automatic gain control of an open card, as read back from its mixer.
public struct CardGain: Hashable, Sendable {
    /// The capture gain, or nil if the card has no such control.
    public var gainDB: Double?
    /// The possible capture gains, or nil if the card has no such control.
    public var rangeDB: GainRange?
    /// Whether automatic gain control is on, or nil if the card has no such control.
    public var agc: Bool?

    public init(gainDB: Double? = nil, rangeDB: GainRange? = nil, agc: Bool? = nil) {
        self.gainDB = gainDB
        self.rangeDB = rangeDB
        self.agc = agc
    }
}

/// The possible capture gains of a card, in dB.
public struct GainRange: Codable, Hashable, Sendable {
    /// The lowest gain at which the card is not muted.
    public var min: Double
    public var max: Double
    /// The distance between two gains, or nil if the steps differ or are unknown.
    public var step: Double?

    public init(min: Double, max: Double, step: Double? = nil) {
        self.min = min
        self.max = max
        self.step = step
    }

    /// Whether the range includes this gain, to a hundredth of a dB.
    public func contains(_ gainDB: Double) -> Bool { gainDB >= min - 0.005 && gainDB <= max + 0.005 }
}

/// A capture gain that a person requests.
public enum GainSetting: Hashable, Sendable {
    /// Keep the card's own level.
    case keep
    case decibels(Double)

    /// The gains that can be requested, in dB. No card has a larger range.
    public static let range = -150.0...150.0

    /// The gain to set on a card, or nil to leave it alone.
    public var decibels: Double? {
        switch self {
        case .keep: nil
        case .decibels(let decibels): decibels
        }
    }
}

/// Writes a number of decibels for a sentence, without trailing zeros: `12`, `-7.5`.
public func decibelText(_ decibels: Double) -> String {
    let hundredths = (decibels * 100).rounded() / 100
    return hundredths == hundredths.rounded() ? "\(Int(hundredths))" : "\(hundredths)"
}
