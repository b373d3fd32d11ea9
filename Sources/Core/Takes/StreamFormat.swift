/// How one sample is laid out, under ALSA's name. Always little-endian, as every machine this runs on.
public enum SampleFormat: String, CaseIterable, Codable, Sendable {
    /// Signed 16 bits in 2 bytes.
    case s16 = "S16_LE"
    /// Signed 24 bits in 3 bytes.
    case s24Packed = "S24_3LE"
    /// Signed 24 bits in the low 3 of 4 bytes; the highest byte has no meaning.
    case s24 = "S24_LE"
    /// Signed 32 bits in 4 bytes.
    case s32 = "S32_LE"
    /// IEEE 754 single precision, full scale ±1.
    case float = "FLOAT_LE"

    /// Bytes that one sample takes as the card delivers it.
    public var bytesPerSample: Int {
        switch self {
        case .s16: 2
        case .s24Packed: 3
        case .s24, .s32, .float: 4
        }
    }

    /// The most bits of a sample that can carry signal.
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
    /// Frames a second.
    public var rateHz: Int
    /// Samples a frame.
    public var channels: Int
    /// The layout of one sample.
    public var sampleFormat: SampleFormat
    /// Bits of a sample that carry signal, counted from the highest: 24 where a card carries them in 32 (ALSA's `sbits`).
    public var significantBits: Int

    /// Interleaved sound of `channels` at `rateHz`.
    /// - Parameter significantBits: nil: all that the layout has. It is limited to what the layout can have.
    public init(rateHz: Int, channels: Int, sampleFormat: SampleFormat, significantBits: Int? = nil) {
        self.rateHz = rateHz
        self.channels = channels
        self.sampleFormat = sampleFormat
        let most = sampleFormat.significantBits
        self.significantBits = max(1, min(significantBits ?? most, most))
    }

    /// As a person reads it: `48000 Hz, 2 channels, S16_LE`.
    public var summary: String {
        "\(rateHz) Hz, \(channels) channel\(channels == 1 ? "" : "s"), \(sampleFormat.rawValue)"
    }

    /// Bytes of one frame.
    public var bytesPerFrame: Int {
        channels * sampleFormat.bytesPerSample
    }

    /// The format of a file that holds this sound without losing a significant bit: 24 bits take 3 bytes, wherever in 4 bytes the
    /// card delivers them.
    ///
    /// `S32_LE` of at most 24 significant bits is stored as its upper 24 bits. This is decided before the first frame, by what the
    /// driver states, and never changes within a file. Some cards fill the other 8 bits with level or status bits, so those
    /// bits are no reason to doubt the driver. If a driver states fewer bits than its converter has, what is cut off lies below
    /// -138 dBFS, under the noise of every converter, and each sample is cut in the same way. A card whose driver states nothing has
    /// 32 significant bits, and all of them are stored.
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

    /// How many whole frames fit into `duration`, rounded to the nearest.
    public func frames(in duration: Duration) -> Int64 {
        Int64((duration.inSeconds * Double(rateHz)).rounded())
    }

    /// How long `frames` last.
    public func duration(ofFrames frames: Int64) -> Duration {
        .nanoseconds(Int64((Double(frames) * 1e9 / Double(rateHz)).rounded()))
    }
}
