/// The waveform of a take as a picture needs it: the file `STEM.dat`, audiowaveform's format version 2, 8 bits.
public struct PeaksFile: Hashable, Sendable {
    /// Frames that one pixel stands for.
    public static let framesPerPixel = 256
    /// Bytes before the first pixel.
    public static let headerByteCount = 24

    /// Frames a second of the take.
    public var rateHz: Int
    /// Channels of the take.
    public var channels: Int
    /// The least and the greatest sample of each channel, channel after channel, pixel after pixel; full scale is ±128.
    public var pairs: [Int8]

    /// The waveform of a take; `pairs` that make no whole pixel are left out.
    public init(rateHz: Int, channels: Int, pairs: [Int8]) {
        self.rateHz = rateHz
        self.channels = channels
        self.pairs = pairs
    }

    /// Pixels.
    public var length: Int { pairs.count / (2 * channels) }

    /// The whole file.
    public var bytes: [UInt8] {
        Self.header(rateHz: rateHz, channels: channels, length: length)
            + pairs.prefix(length * 2 * channels).lazy.map { UInt8(bitPattern: $0) }
    }

    /// What stands before the first pixel.
    package static func header(
        rateHz: Int, channels: Int, length: Int, framesPerPixel: Int = framesPerPixel
    ) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(headerByteCount)
        bytes.append(littleEndian: Int32(2))
        // The one flag there is: 8 bits, not 16.
        bytes.append(littleEndian: UInt32(1))
        bytes.append(littleEndian: Int32(rateHz))
        bytes.append(littleEndian: Int32(framesPerPixel))
        bytes.append(littleEndian: UInt32(length))
        bytes.append(littleEndian: Int32(channels))
        return bytes
    }
}
