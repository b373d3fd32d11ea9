import CSndFile
package import Files
package import Takes

/// A FLAC file that is being written, encoded by libsndfile. It is closed when it goes out of scope, and complete only
/// after `finish`.
@safe package struct FLACWriter: ~Copyable {
    /// The path of the file, or the name of the stream that is sent.
    package let path: String
    package let format: StreamFormat

    private let stream: FLACStream
    /// Nil after `finish`.
    private var handle: OpaquePointer?

    /// Begins a FLAC file (`sf_open_virtual`).
    ///
    /// - Parameters:
    ///   - file: an empty file.
    ///   - format: the stored format: integers up to 24 bits, up to 8 channels.
    ///   - metadata: the blocks before the sound.
    /// - Throws: `SoundFileError` if FLAC cannot hold such sound.
    package init(
        to file: OpenFile, files: FileSystem, format: StreamFormat, metadata: FLACMetadata
    ) throws(SoundFileError) {
        try self.init(FLACStream(to: .file(file, files), metadata: metadata), path: file.path, format: format)
    }

    /// Begins a FLAC file that is sent while it is made. `takePieces` returns its bytes, and nothing is written to the
    /// disk.
    ///
    /// - Parameters:
    ///   - name: of the file.
    ///   - signature: of the sound that will be written.
    ///   - format: as above.
    ///   - metadata: the blocks before the sound.
    /// - Throws: `SoundFileError` if FLAC cannot hold such sound.
    package init(
        sending name: String, signature: FLACSignature, format: StreamFormat, metadata: FLACMetadata
    ) throws(SoundFileError) {
        try self.init(FLACStream(to: .pieces(signature), metadata: metadata), path: name, format: format)
    }

    private init(_ stream: FLACStream, path: String, format: StreamFormat) throws(SoundFileError) {
        self.path = path
        self.format = format
        self.stream = stream
        if let refusal = Self.refusal(of: format) {
            throw SoundFileError(operation: "write", path: path, problem: refusal)
        }
        var info = SF_INFO()
        info.samplerate = Int32(format.rateHz)
        info.channels = Int32(format.channels)
        info.format = Int32(
            SF_FORMAT_FLAC | (format.sampleFormat.significantBits == 16 ? SF_FORMAT_PCM_16 : SF_FORMAT_PCM_24))
        // Safe: the library copies the functions, and this value keeps the stream alive as long as the handle.
        var door = Self.door
        let user = unsafe Unmanaged.passUnretained(stream).toOpaque()
        guard let handle = unsafe sf_open_virtual(&door, Int32(SFM_WRITE), &info, user) else {
            throw SoundFileError(
                operation: "write", path: path, problem: "libsndfile does not write such FLAC",
                storage: stream.failure)
        }
        unsafe self.handle = handle
    }

    deinit {
        // The library writes its last block when it closes a file. An unfinished file does not need it.
        stream.isAbandoned = true
        if let handle = unsafe handle { unsafe sf_close(handle) }
    }

    /// The format of a FLAC file for sound of `stored`. `S32_LE` becomes 24 bits, which is lossless if the low 8 bits
    /// of all samples are zero.
    package static func format(for stored: StreamFormat) -> StreamFormat {
        guard stored.sampleFormat == .s32 else { return stored }
        return StreamFormat(rateHz: stored.rateHz, channels: stored.channels, sampleFormat: .s24Packed)
    }

    /// Why FLAC or this encoder cannot hold such sound without loss, or nil if it can. RFC 9639 allows 32 bits, but few
    /// programs read them.
    package static func refusal(of format: StreamFormat) -> String? {
        if format.sampleFormat != .s16 && format.sampleFormat != .s24Packed {
            return "FLAC holds no \(format.sampleFormat.rawValue) here, only integers of up to 24 bits"
        }
        if !(1...8).contains(format.channels) { return "FLAC holds up to 8 channels, not \(format.channels)" }
        if !(1...655_350).contains(format.rateHz) { return "FLAC holds up to 655350 Hz, not \(format.rateHz)" }
        return nil
    }

    /// Writes frames with full scale 2³¹. Bits below the file's resolution are cut off (`sf_writef_int`).
    /// - Parameters:
    ///   - samples: interleaved.
    ///   - count: the number of frames to write.
    package mutating func write(_ samples: [Int32], frames count: Int) throws(SoundFileError) {
        precondition(count * format.channels <= samples.count)
        guard count > 0, let handle = unsafe handle else { return }
        // Safe: `samples` has at least count × format.channels samples.
        let written = unsafe samples.withUnsafeBufferPointer { buffer in
            unsafe sf_writef_int(handle, buffer.baseAddress!, sf_count_t(count))
        }
        // The encoder notices a failed write only at its next block.
        guard Int(written) == count, stream.failure == nil else {
            throw SoundFileError(
                operation: "write", path: path, problem: unsafe SoundFileReader.text(of: handle),
                storage: stream.failure)
        }
    }

    /// The bytes that were made since the last call, for a file that is sent; may be empty.
    package mutating func takePieces() -> [UInt8] { stream.takePieces() }

    /// Writes the last block and the length (`sf_close`). It does not sync.
    package mutating func finish() throws(SoundFileError) {
        guard let open = unsafe handle else { return }
        unsafe handle = nil
        unsafe sf_close(open)
        if let failure = stream.failure {
            throw SoundFileError(operation: "write", path: path, problem: "", storage: failure)
        }
        let isWhole: Bool
        do throws(FileError) {
            isWhole = try stream.finish()
        } catch {
            throw SoundFileError(operation: "write", path: path, problem: "", storage: error)
        }
        guard isWhole else {
            throw SoundFileError(operation: "write", path: path, problem: "FLAC without a frame is not read by all")
        }
    }

    /// The callbacks through which the library uses the stream.
    private static var door: SF_VIRTUAL_IO {
        unsafe SF_VIRTUAL_IO(
            get_filelen: { user in unsafe FLACWriter.stream(user).length },
            seek: { offset, whence, user in
                let stream = unsafe FLACWriter.stream(user)
                let base = whence == SEEK_CUR ? stream.position : whence == SEEK_END ? stream.length : 0
                stream.seek(to: base + offset)
                return stream.position
            },
            // Nothing is read through this stream.
            read: { _, _, _ in 0 },
            write: { bytes, count, user in
                guard let bytes = unsafe bytes, count > 0 else { return 0 }
                // Safe: the library passes count bytes.
                let array = unsafe Array(UnsafeRawBufferPointer(start: bytes, count: Int(count)))
                return unsafe FLACWriter.stream(user).write(array) ? count : 0
            },
            tell: { user in unsafe FLACWriter.stream(user).position })
    }

    private static func stream(_ user: UnsafeMutableRawPointer?) -> FLACStream {
        // Safe: `init` always passes a stream.
        unsafe Unmanaged<FLACStream>.fromOpaque(user!).takeUnretainedValue()
    }
}
