/// The choice of a card's channels for a recording.
public enum ChannelChoice: Hashable, Sendable {
    /// So many. A card that can deliver just as many delivers these; of one that has more, the first ones are taken.
    case first(Int)
    /// Those with these numbers, in this order. The card's first channel is 1.
    case numbered([Int])
    /// Those that have a signal in the first second after the card is opened; all, if none has.
    case live
    /// Those that were taken when the card was open before, of as many as it had then.
    case layout(ChannelLayout)

    /// The highest number that a channel can have.
    public static let greatestNumber = 64

    /// Returns the layout for a card that delivers `cardChannels`; for `live` all of them, until the live ones are known.
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

    /// Returns true if a layout has the chosen channels.
    public func isMet(by layout: ChannelLayout) -> Bool {
        switch self {
        case .live: true
        case .first, .numbered, .layout: self.layout(ofCard: .max).kept == layout.kept
        }
    }
}

extension ChannelChoice: ExpressibleByIntegerLiteral {
    /// So many channels, as the settings write it.
    public init(integerLiteral value: Int) { self = .first(value) }
}

extension ChannelChoice: CustomStringConvertible {
    /// As a person reads it: `2 channels`, `channels 1, 3`.
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
