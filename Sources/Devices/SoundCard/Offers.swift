public import Takes

/// The combinations of rates, sample formats and channel counts that a card offers.
public struct Offers: Hashable, Sendable {
    /// Channel counts and rates that are all possible with each other in one sample format.
    public struct Combination: Hashable, Codable, Sendable {
        public var format: SampleFormat
        /// Samples a frame, ascending.
        public var channels: [Int]
        /// Frames a second, ascending.
        public var ratesHz: [Int]

        public init(format: SampleFormat, channels: [Int], ratesHz: [Int]) {
            self.format = format
            self.channels = channels
            self.ratesHz = ratesHz
        }

        enum CodingKeys: String, CodingKey {
            case format, channels
            case ratesHz = "rates_hz"
        }
    }

    public var combinations: [Combination]
    /// Whether the hardware itself offers these. A plug-in accepts nearly any format, whatever the hardware behind it
    /// supports.
    public var isHardware: Bool

    public init(_ combinations: [Combination], isHardware: Bool = true) {
        self.combinations = combinations
        self.isHardware = isHardware
    }

    /// All rates, ascending.
    public var ratesHz: [Int] { Set(combinations.flatMap(\.ratesHz)).sorted() }
    /// All channel counts, ascending.
    public var channels: [Int] { Set(combinations.flatMap(\.channels)).sorted() }
    /// All sample formats, in the order of `SampleFormat`.
    public var formats: [SampleFormat] {
        let offered = Set(combinations.map(\.format))
        return SampleFormat.allCases.filter(offered.contains)
    }

    /// Whether sample format, channel count and rate are possible together.
    public func contain(_ format: StreamFormat) -> Bool {
        combinations.contains {
            $0.format == format.sampleFormat && $0.channels.contains(format.channels)
                && $0.ratesHz.contains(format.rateHz)
        }
    }

    /// The rates that are tried on every card, in frames a second (see `RateSearch`).
    public static let knownRatesHz: Set = [
        5512, 8000, 11025, 12000, 16000, 22050, 24000, 32000, 44100, 48000, 64000, 88200, 96000, 128_000, 176_400,
        192_000, 200_000, 250_000, 256_000, 312_500, 352_800, 384_000, 500_000, 705_600, 768_000,
    ]
    /// A rate outside this range in a driver's list is an error.
    static let rateLimitsHz = 1...10_000_000
    /// The largest channel count that is tried on hardware.
    public static let mostChannels = 64
    /// The largest channel count that is tried on a plug-in, which accepts any count and answers slowly.
    public static let mostPluginChannels = 16
}
