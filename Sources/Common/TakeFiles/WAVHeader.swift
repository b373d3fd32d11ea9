public import Takes

/// The header of a WAV file, from its first byte to its first frame. It is always `byteCount` bytes long.
///
/// It fills one block of the file system, which contains no sound. The header is rewritten during recording. If the
/// power fails during a rewrite, only the header is damaged, and it can be made again.
///
/// Sources of the format: RIFF (IBM and Microsoft, 1991), WAVEFORMATEXTENSIBLE (Microsoft), `bext` (EBU Tech 3285).
public struct WAVHeader: Hashable, Sendable {
    /// The offset of the sound.
    public static let byteCount = 4096

    /// The stored format. `sampleFormat` is never `.s24`.
    public var format: StreamFormat
    public var origin: BroadcastOrigin

    /// Converts 24 bits in 4 bytes to 24 bits in 3.
    public init(format: StreamFormat, origin: BroadcastOrigin) {
        self.format = format.stored
        self.origin = origin
    }

    /// The header for `dataBytes` of sound followed by `trailingBytes` of closing chunks.
    ///
    /// `trailingBytes` includes the zero byte after an odd number of bytes of sound. It is 0 during recording. RIFF
    /// sizes have 32 bits; a larger size is stated as the maximum.
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
        // The filler's header and that of `data` need 8 bytes each.
        bytes.append(chunk: "JUNK", [UInt8](repeating: 0, count: Self.byteCount - 16 - bytes.count))
        bytes.append("data", filling: 4)
        bytes.append(littleEndian: UInt32(clamping: dataBytes))
        return bytes
    }

    /// The content of the `fmt ` chunk: plain PCM for up to 2 channels of up to 24 bits, plain IEEE float, or else the
    /// extensible form.
    ///
    /// Python's `wave` before 3.12 and programs based on it cannot open the extensible form. Only that form can state
    /// that channels belong to no loudspeaker. Microsoft requires it above 2 channels and above 16 bits, but programs
    /// read plain PCM of 24 bits as well. (SoX warns about extensible float, and writes plain float itself.)
    var formatChunk: [UInt8] { formatChunk(plainUpTo: 24) }

    /// The form that earlier versions wrote: extensible for 24 bits.
    var earlierFormatChunk: [UInt8] { formatChunk(plainUpTo: 16) }

    /// States all bits of a sample as valid, even if the converter has fewer: after a filter all bits carry signal.
    /// - Parameter mostBits: integers with more bits get the extensible form.
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
            // Every form except PCM states the length of its extension, here 0.
            if isFloat { bytes.append(littleEndian: UInt16(0)) }
            return bytes
        }
        bytes.append(littleEndian: UInt16(22))
        bytes.append(littleEndian: UInt16(format.sampleFormat.significantBits))
        // Centre, or left and right. With more than two channels, a microphone belongs to no loudspeaker.
        bytes.append(littleEndian: UInt32([1: 4, 2: 3][format.channels] ?? 0))
        bytes.append(littleEndian: tag)
        bytes += [0, 0, 0, 0, 0x10, 0, 0x80, 0, 0, 0xaa, 0, 0x38, 0x9b, 0x71]
        return bytes
    }
}
