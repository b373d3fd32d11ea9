public import Takes

/// Pure rules that choose a recording's format among those of a card.
///
/// - The rate is the requested one, or 48 kHz, or the nearest above, or the highest.
/// - Among the formats with this rate, the widest is chosen: S32, S24_3LE, S24, then FLOAT, then S16.
/// - Among the channel counts that are possible with both, the requested one is chosen, or the largest up to 8. A card
///   that accepts every count up to more than 8 is virtual: its range does not describe inputs, and it gets 2 channels,
///   or 1. A card that offers only counts above 8 gets the smallest of them.
/// - Channels requested by number, and a count that the card does not offer, are picked from frames with more channels.
public struct Negotiation: Hashable, Sendable {
    /// Frames a second, or nil for the card's native rate.
    public var rateHz: Int?
    /// The channels to capture, or nil for all channels of the card.
    public var channels: ChannelChoice?
    /// The layout of a sample, or nil for the widest.
    public var sampleFormat: SampleFormat?

    /// The rate that is used if no rate is requested and the card supports it.
    public static let preferredRateHz = 48000

    /// Nil leaves the choice to the rules above.
    public init(rateHz: Int? = nil, channels: ChannelChoice? = nil, sampleFormat: SampleFormat? = nil) {
        self.rateHz = rateHz
        self.channels = channels
        self.sampleFormat = sampleFormat
    }

    /// The formats to try on a card, best first, with all of the card's channels. Never empty.
    /// - Parameter subject: the card's name in an error.
    /// - Throws: an error that lists the card's offers, if the request matches none of them.
    public func candidates(from offers: Offers, of subject: String) throws(SoundCardError) -> [StreamFormat] {
        let combinations = offers.combinations.filter { sampleFormat == nil || $0.format == sampleFormat }
        guard !combinations.isEmpty, !offers.ratesHz.isEmpty, !offers.channels.isEmpty else {
            let formats = SampleFormat.allCases.map(\.rawValue).joined(separator: ", ")
            throw SoundCardError(
                subject, sampleFormat.map { "record \($0.rawValue)" } ?? "record",
                reason: combinations.isEmpty && !offers.combinations.isEmpty
                    ? "it has \(offers.formats.map(\.rawValue).joined(separator: ", "))"
                    : "it offers none of the formats \(formats) in interleaved frames",
                detail: combinations.isEmpty && !offers.combinations.isEmpty
                    ? nil : SoundCardError.conversion(of: subject, setting: "capture.card"))
        }
        let rates = Self.ordered(Set(combinations.flatMap(\.ratesHz)), asked: rateHz)
        guard !rates.isEmpty else {
            throw SoundCardError(
                subject, "record at \(rateHz ?? 0) Hz", reason: "it has \(list(offers.ratesHz)) Hz",
                detail: "set rate_hz to one of them, or to \"native\"")
        }
        for wanted in cardCounts {
            var candidates: [StreamFormat] = []
            for rate in rates {
                for format in Self.widestFirst {
                    let counts = combinations.filter { $0.format == format && $0.ratesHz.contains(rate) }
                        .flatMap(\.channels)
                    for count in Self.orderedChannels(Set(counts)).filter(wanted.contains) {
                        candidates.append(StreamFormat(rateHz: rate, channels: count, sampleFormat: format))
                    }
                }
            }
            if !candidates.isEmpty { return candidates }
        }
        throw noChannels(offers, subject)
    }

    /// The acceptable channel counts of a card's frames. If no combination of the card is in the first range, the next
    /// range applies.
    private var cardCounts: [ClosedRange<Int>] {
        switch channels {
        case .first(let count): [count...count, count...(.max)]
        case .numbered(let numbers): [(numbers.max() ?? 1)...(.max)]
        case .layout(let layout): [layout.cardChannels...layout.cardChannels]
        case .live, nil: [1...(.max)]
        }
    }

    /// The first of the candidates with the requested or the preferred rate, found by asking the card for few
    /// combinations.
    /// - Parameters:
    ///   - channelRange: the smallest and the largest channel count of a sample format, or nil if the card lacks the
    ///     format.
    ///   - isOffered: whether the card accepts format, channels and rate together.
    /// - Returns: nil if the card lacks this rate, or the first range of channel counts with it. Then all its offers
    ///   are needed.
    func first(
        channelRange: (SampleFormat) -> ClosedRange<Int>?, isOffered: (StreamFormat) -> Bool
    ) -> StreamFormat? {
        let rate = rateHz ?? Self.preferredRateHz
        for sampleFormat in Self.widestFirst where self.sampleFormat == nil || self.sampleFormat == sampleFormat {
            guard let range = channelRange(sampleFormat) else { continue }
            func format(_ count: Int) -> StreamFormat {
                StreamFormat(rateHz: rate, channels: count, sampleFormat: sampleFormat)
            }
            if let count = firstChannels(in: range, where: { isOffered(format($0)) }) { return format(count) }
        }
        return nil
    }

    /// The warning that the card, when asked for `asked`, runs at `granted`, which the recording then stores.
    /// - Returns: a sentence, or nil if both are the same.
    public static func warning(asked: StreamFormat, granted: StreamFormat, by subject: String) -> String? {
        // The number of bits that carry signal is known only after configuration.
        var comparable = granted
        comparable.significantBits = asked.significantBits
        guard asked != comparable else { return nil }
        return "capture: \(subject): asked for \(asked.summary), runs at \(granted.summary): recording that"
    }

    private static let widestFirst: [SampleFormat] = [.s32, .s24Packed, .s24, .float, .s16]

    private static func ordered(_ rates: Set<Int>, asked: Int?) -> [Int] {
        if let asked { return rates.contains(asked) ? [asked] : [] }
        return rates.filter { $0 >= preferredRateHz }.sorted() + rates.filter { $0 < preferredRateHz }.sorted(by: >)
    }

    /// The first count of `orderedChannels` among the offered counts, found by asking for few of them.
    private func firstChannels(in range: ClosedRange<Int>, where isOffered: (Int) -> Bool) -> Int? {
        let wanted = cardCounts[0]
        if wanted.lowerBound == wanted.upperBound {
            return range.contains(wanted.lowerBound) && isOffered(wanted.lowerBound) ? wanted.lowerBound : nil
        }
        let few = range.filter { $0 <= Self.mostInputs }.reversed()
        let many = range.filter { $0 > Self.mostInputs }
        guard few.count >= Self.virtualCounts, !many.isEmpty else {
            return (few + many).filter(wanted.contains).first(where: isOffered)
        }
        var offered = Set(few.filter(isOffered))
        if offered.count >= Self.virtualCounts || !offered.contains(where: wanted.contains),
            let least = many.filter(wanted.contains).first(where: isOffered)
        {
            offered.insert(least)
        }
        return Self.orderedChannels(offered).first(where: wanted.contains)
    }

    /// The largest number of inputs that is recorded without a request, if there is a choice.
    private static let mostInputs = 8
    /// A card that has at least this number of counts up to `mostInputs`, and also larger counts, is virtual.
    private static let virtualCounts = 7

    static func orderedChannels(_ counts: Set<Int>) -> [Int] {
        let few = counts.filter { $0 <= mostInputs }.sorted(by: >)
        let many = counts.filter { $0 > mostInputs }.sorted()
        guard few.count >= virtualCounts, !many.isEmpty else { return few + many }
        return [2, 1].filter(few.contains) + few.reversed().filter { $0 > 2 } + many
    }

    private func noChannels(_ offers: Offers, _ subject: String) -> SoundCardError {
        let wanted = "record \(channels ?? 1)"
        let isEnough = { (count: Int) in cardCounts.contains { $0.contains(count) } }
        guard let rateHz, offers.channels.contains(where: isEnough) else {
            let most = offers.channels.max() ?? 1
            return SoundCardError(
                subject, wanted, reason: "it has \(list(offers.channels)) channel\(offers.channels == [1] ? "" : "s")",
                detail: advice(most))
        }
        let here = Set(offers.combinations.filter { $0.ratesHz.contains(rateHz) }.flatMap(\.channels)).sorted()
        let more = offers.channels.filter(isEnough)
        let there = Set(offers.combinations.filter { $0.channels.contains(where: isEnough) }.flatMap(\.ratesHz))
        return SoundCardError(
            subject, "\(wanted) at \(rateHz) Hz",
            reason: "it has \(list(here)) at that rate, and \(list(more)) at \(list(there.sorted())) Hz")
    }

    /// Returns the advice for a card that has at most `most` channels, or nil if the settings do not name channels.
    private func advice(_ most: Int) -> String? {
        switch channels {
        case .first: "set channels to \(most == 1 ? "1" : "at most \(most)"), or to \"native\""
        case .numbered: "set channels to \(most == 1 ? "1" : "numbers up to \(most)"), or to \"native\""
        case .layout, .live, nil: nil
        }
    }
}

/// Lists the numbers for people to read. Three or more consecutive numbers become a range.
func list(_ numbers: [Int]) -> String {
    var pieces: [String] = []
    var rest = numbers[...]
    while let first = rest.first {
        let run = rest.enumerated().prefix { $0.element == first + $0.offset }.count
        if run > 2 {
            pieces.append("\(first) to \(first + run - 1)")
            rest = rest.dropFirst(run)
        } else {
            pieces.append("\(first)")
            rest = rest.dropFirst()
        }
    }
    return pieces.isEmpty ? "nothing" : pieces.joined(separator: ", ")
}
