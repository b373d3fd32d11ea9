import Takes

/// Which of a card's formats a take is played in: pure rules.
///
/// - The take's rate, else the lowest whole multiple of it, else 48 kHz or the nearest rate above the take's, else the highest.
/// - Of the formats that have this rate one that drops no channel, then one that drops no bit.
/// - The take's channel count, else the smallest above it, else the largest: a take of one channel gets two.
/// - The take's own sample format, else the narrowest that holds it, else the one that keeps most of it.
struct PlaybackNegotiation: Hashable, Sendable {
    /// What the take is.
    var take: StreamFormat

    /// The formats to try on a card, best first; never none.
    /// - Parameter subject: the card's name in an error.
    /// - Throws: an error, if the card has nothing that can be played in.
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
                subject, "play", reason: "it has none of the formats \(formats) in interleaved frames",
                detail: SoundCardError.conversion(of: subject, setting: "playback.card"), direction: .playback)
        }
        return candidates
    }

    /// The rates in the order in which they serve.
    private func rates(among rates: [Int]) -> [Int] {
        let preferred = Negotiation.preferredRateHz
        func cost(_ rate: Int) -> (Int, Int) {
            if rate < take.rateHz { return (3, -rate) }
            if rate % take.rateHz == 0 { return (0, rate) }
            return (rate == preferred ? 1 : 2, rate)
        }
        return rates.sorted { cost($0) < cost($1) }
    }

    /// All layouts in the order in which they serve a take, and how many of them keep every bit of it.
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
