/// The layout of one sample, by ALSA's name. Always little-endian, like all supported machines.
public enum SampleFormat: String, CaseIterable, Codable, Sendable {
    /// Signed 16 bits in 2 bytes.
    case s16 = "S16_LE"
    /// Signed 24 bits in 3 bytes.
    case s24Packed = "S24_3LE"
    /// Signed 24 bits in the low 3 of 4 bytes. The highest byte has no meaning.
    case s24 = "S24_LE"
    /// Signed 32 bits in 4 bytes.
    case s32 = "S32_LE"
    /// IEEE 754 single precision, full scale ±1.
    case float = "FLOAT_LE"

    /// The bytes of one sample from the card.
    public var bytesPerSample: Int {
        switch self {
        case .s16: 2
        case .s24Packed: 3
        case .s24, .s32, .float: 4
        }
    }

    /// The greatest number of bits of a sample that can carry signal.
    public var significantBits: Int {
        switch self {
        case .s16: 16
        case .s24Packed, .s24: 24
        case .s32, .float: 32
        }
    }
}

/// Rate, channels and sample layout of interleaved sound.
public struct StreamFormat: Hashable, Sendable {
    public var rateHz: Int
    public var channels: Int
    public var sampleFormat: SampleFormat
    /// The bits of a sample that carry signal, counted from the highest: 24 if a card carries them in 32 (ALSA's
    /// `sbits`).
    public var significantBits: Int

    /// - Parameter significantBits: nil means all bits of the layout. Larger numbers are limited to the layout.
    public init(rateHz: Int, channels: Int, sampleFormat: SampleFormat, significantBits: Int? = nil) {
        self.rateHz = rateHz
        self.channels = channels
        self.sampleFormat = sampleFormat
        let most = sampleFormat.significantBits
        self.significantBits = max(1, min(significantBits ?? most, most))
    }

    /// For a person: `48000 Hz, 2 channels, S16_LE`.
    public var summary: String {
        "\(rateHz) Hz, \(channels) channel\(channels == 1 ? "" : "s"), \(sampleFormat.rawValue)"
    }

    public var bytesPerFrame: Int {
        channels * sampleFormat.bytesPerSample
    }

    /// The format of a file that stores this sound without losing a significant bit: 24 bits take 3 bytes, wherever the
    /// card puts them in 4 bytes.
    ///
    /// `S32_LE` with at most 24 significant bits is stored as its upper 24 bits. The driver's statement decides this
    /// before the first frame, and it never changes within a file. Some cards fill the other 8 bits with level or
    /// status bits, so a signal in those bits does not disprove the driver. If a driver states fewer bits than its
    /// converter has, the lost bits lie below -138 dBFS, under the noise of every converter, and each sample is cut in
    /// the same way. If a driver states nothing, the card has 32 significant bits, and all of them are stored.
    public var stored: StreamFormat {
        let layout: SampleFormat =
            switch sampleFormat {
            case .s24, .s24Packed: .s24Packed
            case .s32: significantBits <= 24 ? .s24Packed : .s32
            case .s16, .float: sampleFormat
            }
        return StreamFormat(
            rateHz: rateHz, channels: channels, sampleFormat: layout, significantBits: significantBits)
    }

    /// The number of whole frames in `duration`, rounded to the nearest.
    public func frames(in duration: Duration) -> Int64 {
        Int64((duration.inSeconds * Double(rateHz)).rounded())
    }

    public func duration(ofFrames frames: Int64) -> Duration {
        .nanoseconds(Int64((Double(frames) * 1e9 / Double(rateHz)).rounded()))
    }
}
