/// The channels of a card that are captured, in their order.
public struct ChannelLayout: Hashable, Sendable {
    /// Channels that the card delivers.
    public var cardChannels: Int
    /// The numbers of those that are kept, in their order. The card's first channel is 1.
    public var kept: [Int]

    /// Some channels of a card.
    public init(keeping kept: [Int], of cardChannels: Int) {
        self.kept = kept
        self.cardChannels = cardChannels
    }

    /// All channels of a card.
    public init(all cardChannels: Int) {
        self.init(keeping: Array(1...max(1, cardChannels)), of: cardChannels)
    }

    /// True if each frame is kept as the card delivers it.
    public var isWhole: Bool { kept.count == cardChannels && kept == Array(1...max(1, cardChannels)) }

    /// As a person reads it: `channels 1, 3 of 4`; nil: all are kept.
    public var summary: String? { isWhole ? nil : "\(Self.list(kept)) of \(cardChannels)" }

    /// As a sidecar and a status have it: the numbers that are kept; nil: all are kept.
    public var ofCard: [Int]? { isWhole ? nil : kept }

    /// As a person reads what a sidecar or a status has: `2 channels`, or `channels 1, 3 of the card`.
    public static func text(channels: Int, ofCard numbers: [Int]?) -> String {
        numbers.map { "\(list($0)) of the card" } ?? "\(channels) channel\(channels == 1 ? "" : "s")"
    }

    /// Channels by their numbers: `channel 2`, `channels 1, 3`.
    static func list(_ numbers: [Int]) -> String {
        "channel\(numbers.count == 1 ? "" : "s") \(numbers.map(String.init).joined(separator: ", "))"
    }
}
