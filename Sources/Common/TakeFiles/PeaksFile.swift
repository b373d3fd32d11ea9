/// The waveform of a take for display: the file `STEM.dat`, audiowaveform's format version 2, 8 bits.
public struct PeaksFile: Hashable, Sendable {
    public static let framesPerPixel = 256
    /// The offset of the first pixel.
    public static let headerByteCount = 24

    /// The take's frame rate.
    public var rateHz: Int
    public var channels: Int
    /// The minimum and the maximum sample of each channel, channel after channel, pixel after pixel; full scale is
    /// ±128.
    public var pairs: [Int8]

    /// Drops an incomplete last pixel from `pairs`.
    public init(rateHz: Int, channels: Int, pairs: [Int8]) {
        self.rateHz = rateHz
        self.channels = channels
        self.pairs = pairs
    }

    /// The number of pixels.
    public var length: Int { pairs.count / (2 * channels) }

    /// The content of the whole file.
    public var bytes: [UInt8] {
        Self.header(rateHz: rateHz, channels: channels, length: length)
            + pairs.prefix(length * 2 * channels).lazy.map { UInt8(bitPattern: $0) }
    }

    /// The bytes before the first pixel.
    package static func header(
        rateHz: Int, channels: Int, length: Int, framesPerPixel: Int = framesPerPixel
    ) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(headerByteCount)
        bytes.append(littleEndian: Int32(2))
        // The only flag: 8 bits instead of 16.
        bytes.append(littleEndian: UInt32(1))
        bytes.append(littleEndian: Int32(rateHz))
        bytes.append(littleEndian: Int32(framesPerPixel))
        bytes.append(littleEndian: UInt32(length))
        bytes.append(littleEndian: Int32(channels))
        return bytes
    }
}
