public import Takes

/// Which of a card's formats a recording takes: pure rules.
///
/// - The rate is the one asked for, or 48 kHz, or the nearest above, or the highest.
/// - Of the formats that have this rate the widest: S32, S24_3LE, S24, then FLOAT, then S16.
/// - Of the channel counts that go with both the one asked for, or the largest up to 8. But a card that takes every
///   count up to more than 8 is virtual: its range does not describe inputs, and it gets 2, or 1.
///   One with more than 8 inputs and no choice gets them all.
public struct Negotiation: Hashable, Sendable {
    /// Frames a second; nil: native.
    public var rateHz: Int?
    /// Samples a frame; nil: as many as the card has.
    public var channels: Int?
    /// The layout of a sample; nil: the widest.
    public var sampleFormat: SampleFormat?

    /// The rate that is used where no other is asked for and the card has it.
    public static let preferredRateHz = 48000

    /// What is asked; what is nil is the card's own.
    public init(rateHz: Int? = nil, channels: Int? = nil, sampleFormat: SampleFormat? = nil) {
        self.rateHz = rateHz
        self.channels = channels
        self.sampleFormat = sampleFormat
    }

    /// The formats to try on a card, best first; never none.
    /// - Parameter subject: the card's name in an error.
    /// - Throws: an error that lists what the card has, if it has nothing that was asked for.
    public func candidates(from offers: Offers, of subject: String) throws(SoundCardError) -> [StreamFormat] {
        let combinations = offers.combinations.filter { sampleFormat == nil || $0.format == sampleFormat }
        guard !combinations.isEmpty, !offers.ratesHz.isEmpty, !offers.channels.isEmpty else {
            let formats = SampleFormat.allCases.map(\.rawValue).joined(separator: ", ")
            throw SoundCardError(
                subject, sampleFormat.map { "record \($0.rawValue)" } ?? "record",
                reason: combinations.isEmpty && !offers.combinations.isEmpty
                    ? "it has \(offers.formats.map(\.rawValue).joined(separator: ", "))"
                    : "it has none of the formats \(formats) in interleaved frames",
                detail: combinations.isEmpty && !offers.combinations.isEmpty
                    ? nil : SoundCardError.conversion(of: subject, setting: "capture.card"))
        }
        let rates = Self.ordered(Set(combinations.flatMap(\.ratesHz)), asked: rateHz)
        guard !rates.isEmpty else {
            throw SoundCardError(
                subject, "record at \(rateHz ?? 0) Hz", reason: "it has \(list(offers.ratesHz)) Hz",
                detail: "set rate_hz to one of them, or to \"native\"")
        }
        var candidates: [StreamFormat] = []
        for rate in rates {
            for format in Self.widestFirst {
                let counts = combinations.filter { $0.format == format && $0.ratesHz.contains(rate) }
                    .flatMap(\.channels)
                for count in Self.orderedChannels(Set(counts), asked: channels) {
                    candidates.append(StreamFormat(rateHz: rate, channels: count, sampleFormat: format))
                }
            }
        }
        guard !candidates.isEmpty else { throw noChannels(offers, rates, subject) }
        return candidates
    }

    /// The first of the candidates, found by asking a card for few combinations in place of all: of the rate that is asked for, or
    /// the preferred one.
    /// - Parameters:
    ///   - channelRange: the least and the most channels that a sample format may have; nil: the card lacks it.
    ///   - isOffered: whether a card takes format, channels and rate together.
    /// - Returns: nil if the card lacks this rate: all its offers decide then.
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

    /// What a recording stores when the card, asked for `asked`, runs at `granted`: always the latter.
    /// - Returns: a sentence; nil if both are the same.
    public static func warning(asked: StreamFormat, granted: StreamFormat, by subject: String) -> String? {
        // How many bits carry signal is known only once the card is settled.
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

    /// The first that `orderedChannels` gives of the counts that are offered, asking for few of them.
    private func firstChannels(in range: ClosedRange<Int>, where isOffered: (Int) -> Bool) -> Int? {
        if let channels { return range.contains(channels) && isOffered(channels) ? channels : nil }
        let few = range.filter { $0 <= Self.mostInputs }.reversed()
        let many = range.filter { $0 > Self.mostInputs }
        guard few.count >= Self.virtualCounts, !many.isEmpty else { return (few + many).first(where: isOffered) }
        var offered = Set(few.filter(isOffered))
        if offered.isEmpty || offered.count >= Self.virtualCounts, let least = many.first(where: isOffered) {
            offered.insert(least)
        }
        return Self.orderedChannels(offered, asked: nil).first
    }

    /// The most inputs that are recorded without being asked for, where there is a choice.
    private static let mostInputs = 8
    /// A card that has so many of the counts up to `mostInputs`, and more, is virtual.
    private static let virtualCounts = 7

    static func orderedChannels(_ counts: Set<Int>, asked: Int?) -> [Int] {
        if let asked { return counts.contains(asked) ? [asked] : [] }
        let few = counts.filter { $0 <= mostInputs }.sorted(by: >)
        let many = counts.filter { $0 > mostInputs }.sorted()
        guard few.count >= virtualCounts, !many.isEmpty else { return few + many }
        return [2, 1].filter(few.contains) + few.reversed().filter { $0 > 2 } + many
    }

    private func noChannels(_ offers: Offers, _ rates: [Int], _ subject: String) -> SoundCardError {
        let asked = channels ?? 0
        let wanted = "record \(asked) channel\(asked == 1 ? "" : "s")"
        guard let rateHz, offers.channels.contains(asked) else {
            return SoundCardError(
                subject, wanted, reason: "it has \(list(offers.channels))",
                detail: "set channels to one of them, or to \"native\"")
        }
        let here = Set(offers.combinations.filter { $0.ratesHz.contains(rateHz) }.flatMap(\.channels)).sorted()
        let there = Set(offers.combinations.filter { $0.channels.contains(asked) }.flatMap(\.ratesHz)).sorted()
        return SoundCardError(
            subject, "\(wanted) at \(rateHz) Hz",
            reason: "it has \(list(here)) at that rate, and \(asked) at \(list(there)) Hz")
    }
}

/// Numbers as a person lists them; three or more in a row become a range.
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
