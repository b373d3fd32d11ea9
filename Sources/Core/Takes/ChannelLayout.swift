/// The captured channels of a card, in their order.
public struct ChannelLayout: Hashable, Sendable {
    /// The number of channels that the card delivers.
    public var cardChannels: Int
    /// The numbers of the captured channels, in their order. The card's first channel is 1.
    public var kept: [Int]

    public init(keeping kept: [Int], of cardChannels: Int) {
        self.kept = kept
        self.cardChannels = cardChannels
    }

    public init(all cardChannels: Int) {
        self.init(keeping: Array(1...max(1, cardChannels)), of: cardChannels)
    }

    /// Whether each frame is stored with the channels that the card delivers.
    public var isWhole: Bool { kept.count == cardChannels && kept == Array(1...max(1, cardChannels)) }

    /// For a person: `channels 1, 3 of 4`, or nil if all channels are kept.
    public var summary: String? { isWhole ? nil : "\(Self.list(kept)) of \(cardChannels)" }

    /// For a sidecar or a status: the numbers of the kept channels, or nil if all are kept.
    public var ofCard: [Int]? { isWhole ? nil : kept }

    /// Describes the values of a sidecar or a status for a person: `2 channels`, or `channels 1, 3 of the card`.
    public static func text(channels: Int, ofCard numbers: [Int]?) -> String {
        numbers.map { "\(list($0)) of the card" } ?? "\(channels) channel\(channels == 1 ? "" : "s")"
    }

    static func list(_ numbers: [Int]) -> String {
        "channel\(numbers.count == 1 ? "" : "s") \(numbers.map(String.init).joined(separator: ", "))"
    }
}
