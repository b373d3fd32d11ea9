public import Files
import Glibc
import Takes

/// Compares the sound of one audio file, WAV or FLAC, with the description in its sidecar, in slices.
public final class SoundCheck {
    /// The sound that the sidecar describes.
    public let recorded: RecordedSound
    public let path: String
    /// SHA-256 of the whole file, hexadecimal. Set after the check has ended, if it was requested and the file could be
    /// read.
    public private(set) var wholeSHA256: String?

    private let files: FileSystem
    private let followsLinks: Bool
    private let onSound: (RawSpan) -> Void
    private var whole: SoundDigest?
    private var phase = Phase.begin
    private var decoder: SoundFileReader?
    private var buffer: [UInt8] = []
    private var samples: [Int32] = []

    /// The work of the next slice.
    private enum Phase {
        case begin
        /// Continue to read a WAV file at this offset.
        case wav(OpenFile, WAVSound, at: Int64)
        /// Continue to decode; this number of frames is done.
        case flac(OpenFile, SoundDigest, frames: Int64)
        /// Hash the rest of the file.
        case rest(OpenFile, SoundFinding, at: Int64)
    }

    private static let sliceByteCount = 256 << 10
    private static let sliceSamples = 1 << 15
    /// A sound file cannot be longer. FLAC that was encoded to a stream reports such a length.
    private static let mostFrames = Int64(1) << 48

    /// - Parameters:
    ///   - folder: the folder that contains the file.
    ///   - followsLinks: whether the file may be a symbolic link. A link in a folder of takes leads elsewhere and is
    ///     not sound.
    ///   - hashesWhole: whether to compute `wholeSHA256`.
    ///   - onSound: called with each piece of the samples, as in the `data` chunk of a WAV file, while the file is read.
    ///     All pieces together are the fingerprinted bytes. They have the recorded format if the finding is `asRecorded`
    ///     or `unproven`, and may be anything otherwise. A piece may begin and end within a frame.
    public init(
        _ recorded: RecordedSound, in folder: String, followsLinks: Bool = false, hashesWhole: Bool = false,
        files: FileSystem = FileSystem(), onSound: @escaping (RawSpan) -> Void = { _ in }
    ) {
        self.recorded = recorded
        self.followsLinks = followsLinks
        self.files = files
        self.onSound = onSound
        path = "\(folder)/\(recorded.file)"
        if hashesWhole { whole = SoundDigest() }
    }

    /// Reads the next slice.
    /// - Returns: nil while there is more to read.
    /// - Throws: `FileError` if the file exists and cannot be read. The check then has no result, and a further call
    ///   begins again.
    public func step() throws(FileError) -> SoundFinding? {
        do throws(FileError) {
            return try proceed()
        } catch {
            phase = .begin
            if whole != nil { whole = SoundDigest() }
            switch error.code {
            case ENOENT, ENOTDIR: return .missing
            case ELOOP: return .unreadable("it is a link, and no file")
            case EISDIR, ESPIPE, ENXIO: return .unreadable("it is not a file")
            default: throw error
            }
        }
    }

    /// Reads the whole file.
    /// - Parameter isCancelled: called after each slice.
    /// - Returns: nil if the check was cancelled.
    public func run(isCancelled: () -> Bool = { false }) throws(FileError) -> SoundFinding? {
        while !isCancelled() {
            if let finding = try step() { return finding }
        }
        return nil
    }

    private func proceed() throws(FileError) -> SoundFinding? {
        switch phase {
        case .begin: return try begin()
        case .wav(let file, var sound, let offset):
            let count = try read(file, at: offset)
            // Safe: the buffer is read during the call, and only its filled part.
            let found = unsafe buffer.withUnsafeBytes {
                unsafe sound.update(UnsafeRawBufferPointer(rebasing: $0[..<count]))
            }
            passOn(buffer, found)
            guard count < Self.sliceByteCount else {
                phase = .wav(file, sound, at: offset + Int64(count))
                return nil
            }
            wholeSHA256 = whole?.hexadecimal
            return finding(sound.outcome)
        case .flac(let file, let digest, let frames): return decode(file, digest, frames)
        case .rest(let file, let finding, let offset):
            let count = try read(file, at: offset)
            guard count < Self.sliceByteCount else {
                phase = .rest(file, finding, at: offset + Int64(count))
                return nil
            }
            wholeSHA256 = whole?.hexadecimal
            return finding
        }
    }

    private func begin() throws(FileError) -> SoundFinding? {
        let file = followsLinks ? try files.openToRead(path) : try files.openTakeFile(path)
        buffer = [UInt8](repeating: 0, count: Self.sliceByteCount)
        guard try files.read(file, at: 0, count: 4) == Array("fLaC".utf8) else {
            phase = .wav(file, WAVSound(), at: 0)
            return nil
        }
        do throws(SoundFileError) {
            // Through the open file: its path may lead to another file by now.
            let decoder = try SoundFileReader(file)
            let expected = FLACWriter.format(for: recorded.format)
            guard decoder.format.isLike(expected) else { return end(file, .otherFormat(decoder.format)) }
            guard decoder.frames == recorded.frames, decoder.frames <= Self.mostFrames else {
                return end(file, .otherLength(frames: decoder.frames))
            }
            samples = [Int32](
                repeating: 0,
                count: max(expected.channels, Self.sliceSamples / expected.channels * expected.channels))
            self.decoder = consume decoder
            phase = .flac(file, SoundDigest(), frames: 0)
            return nil
        } catch {
            return end(file, .unreadable("it cannot be decoded: \(error.problem)"))
        }
    }

    private func decode(_ file: OpenFile, _ digest: SoundDigest, _ frames: Int64) -> SoundFinding? {
        var digest = digest
        do throws(SoundFileError) {
            var span = samples.mutableSpan
            let count = try decoder?.read(into: &span) ?? 0
            // The decoder reports a block with a wrong checksum, and continues.
            if decoder?.hasFailed ?? false {
                return end(file, .unreadable("it cannot be decoded whole: a block behind frame \(frames) is damaged"))
            }
            let done = frames + Int64(count)
            let bytes = packed(count * recorded.format.channels)
            digest.update(bytes)
            passOn(bytes, bytes.indices)
            guard count == 0 || done >= recorded.frames else {
                phase = .flac(file, digest, frames: done)
                return nil
            }
            guard done == recorded.frames else { return end(file, .cut(frames: done)) }
            return end(file, compared(digest.hexadecimal))
        } catch {
            return end(file, .unreadable("it cannot be decoded whole: \(error.problem)"))
        }
    }

    private func passOn(_ bytes: [UInt8], _ sound: Range<Int>) {
        guard !sound.isEmpty else { return }
        bytes.withRawSpan { onSound($0.extracting(sound)) }
    }

    /// Converts samples of full scale 2³¹ to the layout of a WAV file.
    private func packed(_ count: Int) -> [UInt8] {
        let size = recorded.format.sampleFormat.bytesPerSample
        var bytes = [UInt8](repeating: 0, count: count * size)
        for index in 0..<count {
            let sample = samples[index] >> Int32(32 - 8 * size)
            for place in 0..<size {
                bytes[index * size + place] = UInt8(truncatingIfNeeded: sample >> Int32(8 * place))
            }
        }
        return bytes
    }

    /// Ends with a finding. If the hash of the whole file was requested, the rest of the file is hashed first.
    private func end(_ file: OpenFile, _ finding: SoundFinding) -> SoundFinding? {
        decoder = nil
        guard whole != nil else { return finding }
        phase = .rest(file, finding, at: 0)
        return nil
    }

    private func read(_ file: OpenFile, at offset: Int64) throws(FileError) -> Int {
        let files = files
        var piece = buffer
        buffer = []
        var span = piece.mutableSpan
        // Safe: the buffer is valid while the closure runs.
        let count = try unsafe span.withUnsafeMutableBytes { (bytes) throws(FileError) in
            try unsafe files.read(file, at: offset, into: bytes)
        }
        buffer = piece
        // Safe: the buffer is read during the call, and only its filled part.
        unsafe buffer.withUnsafeBytes { bytes in
            unsafe whole?.update(UnsafeRawBufferPointer(rebasing: bytes[..<count]))
        }
        return count
    }

    private func finding(_ outcome: WAVSound.Outcome) -> SoundFinding { recorded.finding(outcome) }

    private func compared(_ sha256: String) -> SoundFinding { recorded.compared(sha256) }
}

extension RecordedSound {
    /// The finding for a WAV file with this outcome.
    public func finding(_ outcome: WAVSound.Outcome) -> SoundFinding {
        switch outcome {
        case .damaged(let problem): return .unreadable(problem)
        case .sound(let found, let stated, let bytes, let sha256):
            guard found.isLike(format) else { return .otherFormat(found) }
            let size = Int64(found.bytesPerFrame)
            guard stated == frames * size else { return .otherLength(frames: stated / size) }
            guard bytes == stated else { return .cut(frames: bytes / size) }
            return compared(sha256)
        }
    }

    fileprivate func compared(_ found: String) -> SoundFinding {
        guard let sha256 else { return .unproven(sha256: found) }
        return sha256.lowercased() == found ? .asRecorded(sha256: found) : .differs(sha256: found)
    }
}

extension StreamFormat {
    /// Whether both formats are equal when read from a file: the same rate, channels and sample format.
    fileprivate func isLike(_ other: StreamFormat) -> Bool {
        rateHz == other.rateHz && channels == other.channels && sampleFormat == other.sampleFormat
    }
}
