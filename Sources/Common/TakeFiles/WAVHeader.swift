public import Takes

/// The head of a WAV file, from its first byte to its first frame: always `byteCount` bytes long.
///
/// It fills one block of the file system, and no sound lies in that block: it is rewritten while the take is recorded, and if
/// the power fails during that, only the header is damaged, which can be made again.
/// The parts of the format: RIFF (IBM and Microsoft, 1991), WAVEFORMATEXTENSIBLE (Microsoft), `bext` (EBU Tech 3285).
public struct WAVHeader: Hashable, Sendable {
    /// Where the sound begins.
    public static let byteCount = 4096

    /// What is stored: `sampleFormat` is never `.s24`.
    public var format: StreamFormat
    /// Where the sound comes from.
    public var origin: BroadcastOrigin

    /// The head of a file of `format`; 24 bits in 4 bytes become 24 bits in 3.
    public init(format: StreamFormat, origin: BroadcastOrigin) {
        self.format = format.stored
        self.origin = origin
    }

    /// The head as it is when `dataBytes` of sound follow, and then `trailingBytes` of closing chunks.
    ///
    /// `trailingBytes` counts the zero byte after an odd number of bytes of sound. While a take is recorded it is 0.
    /// RIFF's sizes have 32 bits; a size that does not fit is stated as the greatest that does.
    public func bytes(dataBytes: Int64, trailingBytes: Int = 0) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(Self.byteCount)
        bytes.append("RIFF", filling: 4)
        bytes.append(littleEndian: UInt32(clamping: Int64(Self.byteCount - 8) + dataBytes + Int64(trailingBytes)))
        bytes.append("WAVE", filling: 4)
        bytes.append(chunk: "bext", origin.bytes(rateHz: format.rateHz))
        bytes.append(chunk: "fmt ", formatChunk)
        if format.sampleFormat == .float {
            var frames: [UInt8] = []
            frames.append(littleEndian: UInt32(clamping: dataBytes / Int64(format.bytesPerFrame)))
            bytes.append(chunk: "fact", frames)
        }
        // The filler's own head and that of `data` take 8 bytes each.
        bytes.append(chunk: "JUNK", [UInt8](repeating: 0, count: Self.byteCount - 16 - bytes.count))
        bytes.append("data", filling: 4)
        bytes.append(littleEndian: UInt32(clamping: dataBytes))
        return bytes
    }

    /// The content of the chunk `fmt `: plain PCM up to 2 channels of 24 bits, plain IEEE float, else the extensible form.
    ///
    /// Python's `wave` before 3.12, and what is built on it, opens no extensible form. That form alone states that channels belong to
    /// no loudspeaker, and Microsoft asks for it above 2 channels and above 16 bits; programs read plain PCM of 24 bits all the same.
    /// (SoX warns of extensible float, and writes plain float itself.)
    var formatChunk: [UInt8] { formatChunk(plainUpTo: 24) }

    /// The same as earlier programs wrote it: with the extensible form for 24 bits.
    var earlierFormatChunk: [UInt8] { formatChunk(plainUpTo: 16) }

    /// All bits of a sample are stated as valid, also where the converter has fewer: after a filter all of them carry signal.
    /// - Parameter mostBits: integers of more bits have the extensible form.
    private func formatChunk(plainUpTo mostBits: UInt16) -> [UInt8] {
        let isFloat = format.sampleFormat == .float
        let tag: UInt16 = isFloat ? 3 : 1
        let bits = UInt16(format.sampleFormat.bytesPerSample * 8)
        let isPlain = isFloat || (format.channels <= 2 && bits <= mostBits)
        var bytes: [UInt8] = []
        bytes.append(littleEndian: isPlain ? tag : 0xfffe)
        bytes.append(littleEndian: UInt16(format.channels))
        bytes.append(littleEndian: UInt32(format.rateHz))
        bytes.append(littleEndian: UInt32(format.rateHz * format.bytesPerFrame))
        bytes.append(littleEndian: UInt16(format.bytesPerFrame))
        bytes.append(littleEndian: bits)
        if isPlain {
            // Any form but PCM states the length of its extension: here 0.
            if isFloat { bytes.append(littleEndian: UInt16(0)) }
            return bytes
        }
        bytes.append(littleEndian: UInt16(22))
        bytes.append(littleEndian: UInt16(format.sampleFormat.significantBits))
        // Centre, or left and right; a microphone of more than two belongs to no loudspeaker.
        bytes.append(littleEndian: UInt32([1: 4, 2: 3][format.channels] ?? 0))
        bytes.append(littleEndian: tag)
        bytes += [0, 0, 0, 0, 0x10, 0, 0x80, 0, 0, 0xaa, 0, 0x38, 0x9b, 0x71]
        return bytes
    }
}
