import Takes

/// Pure rules that choose the format for playing a take among those of a card.
///
/// - The rate is the take's, or its lowest whole multiple, or 48 kHz or the nearest rate above the take's, or the
///   highest.
/// - Among the formats with this rate, one that drops no channel has priority, then one that drops no bit.
/// - The channel count is the take's, or the smallest above it, or the largest: a take with one channel gets two.
/// - The sample format is the take's, or the narrowest that holds it, or the one that keeps most of it.
struct PlaybackNegotiation: Hashable, Sendable {
    var take: StreamFormat

    /// The formats to try on a card, best first. Never empty.
    /// - Parameter subject: the card's name in an error.
    /// - Throws: an error if the card has no usable format.
    func candidates(from offers: Offers, of subject: String) throws(SoundCardError) -> [StreamFormat] {
        let layouts = Self.layouts(for: take.sampleFormat)
        let candidates = rates(among: offers.ratesHz).flatMap { rate in
            layouts.order.enumerated().flatMap { rank, layout in
                let counts = offers.combinations.filter { $0.format == layout && $0.ratesHz.contains(rate) }
                    .flatMap(\.channels)
                return Set(counts).map { count in
                    let cost = (
                        count < take.channels ? 1 : 0, rank < layouts.lossless ? 0 : 1, abs(count - take.channels),
                        rank
                    )
                    return (format: StreamFormat(rateHz: rate, channels: count, sampleFormat: layout), cost: cost)
                }
            }.sorted { $0.cost < $1.cost }.map(\.format)
        }
        guard !candidates.isEmpty else {
            let formats = SampleFormat.allCases.map(\.rawValue).joined(separator: ", ")
            throw SoundCardError(
                subject, "play", reason: "it offers none of the formats \(formats) in interleaved frames",
                detail: SoundCardError.conversion(of: subject, setting: "playback.card"), direction: .playback)
        }
        return candidates
    }

    /// The rates in order of preference.
    private func rates(among rates: [Int]) -> [Int] {
        let preferred = Negotiation.preferredRateHz
        func cost(_ rate: Int) -> (Int, Int) {
            if rate < take.rateHz { return (3, -rate) }
            if rate % take.rateHz == 0 { return (0, rate) }
            return (rate == preferred ? 1 : 2, rate)
        }
        return rates.sorted { cost($0) < cost($1) }
    }

    /// All layouts in order of preference for a take. The first `lossless` of them keep every bit.
    static func layouts(for format: SampleFormat) -> (order: [SampleFormat], lossless: Int) {
        switch format {
        case .s16: ([.s16, .s24Packed, .s24, .s32, .float], 5)
        case .s24Packed: ([.s24Packed, .s24, .s32, .float, .s16], 4)
        case .s24: ([.s24, .s24Packed, .s32, .float, .s16], 4)
        // A float keeps 24 bits of a loud sample, and more of a soft one.
        case .s32: ([.s32, .float, .s24Packed, .s24, .s16], 1)
        case .float: ([.float, .s32, .s24Packed, .s24, .s16], 1)
        }
    }
}
