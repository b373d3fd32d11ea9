/// How one sample is laid out, under ALSA's name. Always little-endian, as every machine this runs on.
public enum SampleFormat: String, CaseIterable, Codable, Sendable {
    /// Signed 16 bits in 2 bytes.
    case s16 = "S16_LE"
    /// Signed 24 bits in 3 bytes.
    case s24Packed = "S24_3LE"
    /// Signed 24 bits in the low 3 of 4 bytes; the highest byte says nothing.
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

    /// Bits that carry signal.
    public var significantBits: Int {
        switch self {
        case .s16: 16
        case .s24Packed, .s24: 24
        case .s32, .float: 32
        }
    }

    /// The layout in a file: as the card's, but 24 bits always take 3 bytes.
    public var stored: SampleFormat {
        switch self {
        case .s24, .s24Packed: .s24Packed
        case .s16, .s32, .float: self
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

    /// Interleaved sound of `channels` at `rateHz`.
    public init(rateHz: Int, channels: Int, sampleFormat: SampleFormat) {
        self.rateHz = rateHz
        self.channels = channels
        self.sampleFormat = sampleFormat
    }

    /// As a person reads it: `48000 Hz, 2 channels, S16_LE`.
    public var summary: String {
        "\(rateHz) Hz, \(channels) channel\(channels == 1 ? "" : "s"), \(sampleFormat.rawValue)"
    }

    /// Bytes of one frame.
    public var bytesPerFrame: Int {
        channels * sampleFormat.bytesPerSample
    }

    /// The format of a file that holds this sound without losing a bit.
    public var stored: StreamFormat {
        StreamFormat(rateHz: rateHz, channels: channels, sampleFormat: sampleFormat.stored)
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
