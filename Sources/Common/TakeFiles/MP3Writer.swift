import CSndFile

/// An MP3 that is sent while it is made, encoded by libsndfile, which uses LAME. It is closed when it goes out of scope.
///
/// It has a constant bit rate, so that a player knows the length of the sound by that of the file. A frame with the length
/// of the sound, which libsndfile would write into the beginning at the end, is missing: those bytes were sent before.
@safe package struct MP3Writer: ~Copyable {
    /// The name of the file.
    package let name: String
    package let channels: Int

    private let stream: SentBytes
    /// Nil after `finish`.
    private var handle: OpaquePointer?

    /// The rates that MP3 has (ISO 11172-3, 13818-3, and the extension MPEG-2.5).
    package static let rates = [8000, 11_025, 12_000, 16_000, 22_050, 24_000, 32_000, 44_100, 48_000]

    /// Whether this libsndfile writes MP3: version 1.1 or newer, compiled with LAME.
    package static let isAvailable: Bool = {
        let stream = SentBytes()
        guard let handle = unsafe MP3Writer.open(stream, rateHz: 48_000, channels: 2) else { return false }
        unsafe sf_close(handle)
        return withExtendedLifetime(stream) { true }
    }()

    /// Begins an MP3 (`sf_open_virtual`).
    ///
    /// - Parameters:
    ///   - name: of the file.
    ///   - rateHz: one of `rates`.
    ///   - channels: 1 or 2.
    /// - Throws: `SoundFileError` if libsndfile does not write MP3.
    package init(sending name: String, rateHz: Int, channels: Int) throws(SoundFileError) {
        self.name = name
        self.channels = channels
        stream = SentBytes()
        guard let handle = unsafe Self.open(stream, rateHz: rateHz, channels: channels) else {
            throw SoundFileError(operation: "write", path: name, problem: "libsndfile does not write such MP3")
        }
        unsafe self.handle = handle
        // The compression must be set first, because it has another meaning with a constant bit rate.
        var compression = Self.compression(rateHz: rateHz, channels: channels)
        var mode: Int32 = Self.constantBitRate
        unsafe sf_command(handle, Int32(SFC_SET_COMPRESSION_LEVEL), &compression, Int32(MemoryLayout<Double>.size))
        unsafe sf_command(handle, Self.setBitRateMode, &mode, Int32(MemoryLayout<Int32>.size))
    }

    deinit {
        if let handle = unsafe handle { unsafe sf_close(handle) }
    }

    // The header of libsndfile 1.0 lacks these.
    private static let layer3: Int32 = 0x230000 | 0x0082
    private static let setBitRateMode: Int32 = 0x1305
    private static let constantBitRate: Int32 = 0

    /// The value for `SFC_SET_COMPRESSION_LEVEL` with 64 kbit/s for each channel. It counts from the greatest bit rate that
    /// the rate allows, at 0, to the least one, at 1.
    private static func compression(rateHz: Int, channels: Int) -> Double {
        let (least, greatest) = rateHz >= 32_000 ? (32.0, 320.0) : rateHz >= 16_000 ? (8, 160) : (8, 64)
        // The fraction is cut off, so the rate is aimed at from above.
        let wanted = min(greatest, Double(64 * channels) + 0.5)
        return (greatest - wanted) / (greatest - least)
    }

    private static func open(_ stream: SentBytes, rateHz: Int, channels: Int) -> OpaquePointer? {
        var info = SF_INFO()
        info.samplerate = Int32(rateHz)
        info.channels = Int32(channels)
        info.format = layer3
        // Safe: the library copies the functions, and the caller keeps the stream alive as long as the handle.
        var door = Self.door
        return unsafe sf_open_virtual(&door, Int32(SFM_WRITE), &info, Unmanaged.passUnretained(stream).toOpaque())
    }

    /// Encodes frames with full scale 1 (`sf_writef_double`).
    /// - Parameters:
    ///   - samples: interleaved.
    ///   - count: the number of frames to encode.
    package mutating func write(_ samples: [Double], frames count: Int) throws(SoundFileError) {
        precondition(count * channels <= samples.count)
        guard count > 0, let handle = unsafe handle else { return }
        // Safe: `samples` has at least count × channels samples.
        let written = unsafe samples.withUnsafeBufferPointer { buffer in
            unsafe sf_writef_double(handle, buffer.baseAddress!, sf_count_t(count))
        }
        guard Int(written) == count else {
            throw SoundFileError(operation: "write", path: name, problem: unsafe SoundFileReader.text(of: handle))
        }
    }

    /// The bytes that were made since the last call; may be empty.
    package mutating func takePieces() -> [UInt8] { stream.takePieces() }

    /// Encodes the rest (`sf_close`).
    package mutating func finish() {
        guard let open = unsafe handle else { return }
        unsafe handle = nil
        unsafe sf_close(open)
    }

    /// The callbacks through which the library uses the stream.
    private static var door: SF_VIRTUAL_IO {
        unsafe SF_VIRTUAL_IO(
            get_filelen: { user in unsafe MP3Writer.stream(user).length },
            seek: { offset, whence, user in
                let length = unsafe MP3Writer.stream(user).length
                let base = whence == SEEK_SET ? 0 : length
                // What was sent is not written again.
                return base + offset == length ? length : -1
            },
            // Nothing is read through this stream.
            read: { _, _, _ in 0 },
            write: { bytes, count, user in
                guard let bytes = unsafe bytes, count > 0 else { return 0 }
                // Safe: the library passes count bytes.
                let array = unsafe Array(UnsafeRawBufferPointer(start: bytes, count: Int(count)))
                unsafe MP3Writer.stream(user).append(array)
                return count
            },
            tell: { user in unsafe MP3Writer.stream(user).length })
    }

    private static func stream(_ user: UnsafeMutableRawPointer?) -> SentBytes {
        // Safe: `open` always passes a stream.
        unsafe Unmanaged<SentBytes>.fromOpaque(user!).takeUnretainedValue()
    }
}

/// Bytes in the order in which an encoder makes them, until they are sent.
private final class SentBytes {
    private var pieces: [UInt8] = []
    /// The number of all bytes so far.
    private(set) var length: sf_count_t = 0

    func append(_ bytes: [UInt8]) {
        pieces += bytes
        length += sf_count_t(bytes.count)
    }

    func takePieces() -> [UInt8] {
        defer { pieces = [] }
        return pieces
    }
}
