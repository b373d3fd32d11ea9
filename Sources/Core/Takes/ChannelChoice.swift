/// The choice of a card's channels for a recording.
public enum ChannelChoice: Hashable, Sendable {
    /// This number of channels. A card that can deliver exactly this number is opened with it. If the card delivers
    /// more, the first ones are kept.
    case first(Int)
    /// The channels with these numbers, in this order. The card's first channel is 1.
    case numbered([Int])
    /// The channels with a signal in the first second after the card is opened, or all if none has one.
    case live
    /// The channels that were kept when the card was last open, with the number of channels it had then.
    case layout(ChannelLayout)

    public static let greatestNumber = 64

    /// Returns the layout for a card that delivers `cardChannels`. For `live`, that is all channels until the live ones
    /// are known.
    public func layout(ofCard cardChannels: Int) -> ChannelLayout {
        let kept: [Int]
        switch self {
        case .first(let count): kept = Array(1...max(1, count))
        case .numbered(let numbers): kept = numbers
        case .layout(let layout): kept = layout.kept
        case .live: return ChannelLayout(all: cardChannels)
        }
        let there = kept.filter { $0 <= cardChannels }
        return there.isEmpty ? ChannelLayout(all: cardChannels) : ChannelLayout(keeping: there, of: cardChannels)
    }

    public func isMet(by layout: ChannelLayout) -> Bool {
        switch self {
        case .live: true
        case .first, .numbered, .layout: self.layout(ofCard: .max).kept == layout.kept
        }
    }
}

extension ChannelChoice: ExpressibleByIntegerLiteral {
    /// A number of channels, as in the settings.
    public init(integerLiteral value: Int) { self = .first(value) }
}

extension ChannelChoice: CustomStringConvertible {
    /// For a person: `2 channels`, `channels 1, 3`.
    public var description: String {
        switch self {
        case .first(let count): "\(count) channel\(count == 1 ? "" : "s")"
        case .numbered(let numbers): ChannelLayout.list(numbers)
        case .live: "the channels that have a signal"
        case .layout(let layout):
            layout.isWhole ? Self.first(layout.cardChannels).description : ChannelLayout.list(layout.kept)
        }
    }
}
