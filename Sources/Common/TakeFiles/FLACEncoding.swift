import Files
import Takes

/// The encoding of one WAV file as FLAC in slices. The FLAC is then decoded again and compared.
///
/// A file of 32 bits whose low 8 bits are zero in all samples becomes FLAC of 24 bits. Such sound comes from a card
/// that carries 24 bits in 32.
final class FLACEncoding {
    enum Progress: Hashable {
        case more
        case done
        /// The FLAC and the WAV differ, first in this frame.
        case differs(atFrame: Int64)
        /// The WAV has more bits than FLAC can hold, first in this frame.
        case tooManyBits(atFrame: Int64)
        /// The FLAC and the WAV are equal, but their sound does not match the fingerprint.
        case isDamaged
    }

    /// Samples per read: small enough to use little memory.
    private static let bufferSamples = 1 << 15
    /// Buffers per slice: about a second of stereo.
    private static let buffersPerSlice = 4
    /// The written data is synced after this many bytes. So a sync of the take that is being recorded does not wait for
    /// much data.
    private static let bytesPerSync: Int64 = 4 << 20

    private let files: FileSystem
    private let wav: String
    private let flac: OpenFile
    /// The format of the FLAC.
    private let format: StreamFormat
    /// Whether the WAV has 32 bits and the FLAC has 24.
    private let isReduced: Bool
    private let frames: Int64
    /// The fingerprint of the sound that the WAV should hold, or nil if unknown.
    private let fingerprint: String?
    private var source: SoundFileReader
    private var writer: FLACWriter?
    /// Decodes the FLAC for the comparison.
    private var decoded: SoundFileReader?
    private var done: Int64 = 0
    private var bytesSinceSync: Int64 = 0
    /// The digest of the sound that was read back from the FLAC.
    private var digest = SoundDigest()
    private var samples: [Int32]
    private var others: [Int32]

    /// Begins the FLAC file, which must not exist yet.
    ///
    /// - Parameters:
    ///   - wav: the path of the WAV file.
    ///   - flac: the path of the FLAC file to write.
    ///   - fingerprint: of the WAV's sound, from its sidecar.
    /// - Throws: `FileError`, or `SoundFileError` if FLAC cannot hold such sound.
    init(wav: String, flac: String, metadata: FLACMetadata, fingerprint: String?, files: FileSystem) throws {
        self.files = files
        self.wav = wav
        self.fingerprint = fingerprint
        source = try SoundFileReader(path: wav)
        format = FLACWriter.format(for: source.format)
        isReduced = format != source.format
        frames = source.frames
        let size = max(format.channels, Self.bufferSamples / format.channels * format.channels)
        samples = [Int32](repeating: 0, count: size)
        others = samples
        self.flac = try files.createWhole(flac, isNew: true)
        writer = try FLACWriter(to: self.flac, files: files, format: format, metadata: metadata)
    }

    /// Encodes or compares the next slice.
    /// - Throws: `FileError` or `SoundFileError`. After that the encoding must be begun again or abandoned.
    func step() throws -> Progress {
        for _ in 0..<Self.buffersPerSlice {
            let progress = decoded == nil ? try encode() : try compare()
            if progress != .more { return progress }
        }
        return .more
    }

    private func encode() throws -> Progress {
        var span = samples.mutableSpan
        let count = try source.read(into: &span)
        if count > 0 {
            if isReduced, let index = samples[..<(count * format.channels)].firstIndex(where: { $0 & 0xff != 0 }) {
                return .tooManyBits(atFrame: done + Int64(index / format.channels))
            }
            try writer?.write(samples, frames: count)
            done += Int64(count)
            bytesSinceSync += Int64(count * format.bytesPerFrame)
            if bytesSinceSync >= Self.bytesPerSync {
                try files.syncData(flac)
                bytesSinceSync = 0
            }
            return .more
        }
        guard done == frames else {
            throw SoundFileError(operation: "read", path: wav, problem: "it ends at frame \(done) of \(frames)")
        }
        try writer?.finish()
        writer = nil
        try files.sync(flac)
        files.dropCache(of: flac)
        let decoded = try SoundFileReader(path: flac.path)
        guard decoded.format == format, decoded.frames == frames else { return .differs(atFrame: decoded.frames) }
        self.decoded = consume decoded
        try source.seek(toFrame: 0)
        done = 0
        return .more
    }

    private func compare() throws -> Progress {
        var span = samples.mutableSpan
        let count = try source.read(into: &span)
        var other = others.mutableSpan
        let otherCount = try decoded?.read(into: &other) ?? 0
        guard count == otherCount else { return .differs(atFrame: done + Int64(min(count, otherCount))) }
        if count == 0 {
            guard done == frames else { return .differs(atFrame: done) }
            return fingerprint == nil || fingerprint == digest.hexadecimal ? .done : .isDamaged
        }
        for index in 0..<count * format.channels where samples[index] != others[index] {
            return .differs(atFrame: done + Int64(index / format.channels))
        }
        if fingerprint != nil {
            digest.update(
                others[..<(count * format.channels)], bytesPerSample: source.format.sampleFormat.bytesPerSample)
        }
        done += Int64(count)
        return .more
    }
}
