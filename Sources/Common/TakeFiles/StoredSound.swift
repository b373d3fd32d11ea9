import Files
import Glibc
import Takes

/// Reads the sound of a complete audio file in pieces, as the bytes that a WAV file stores. FLAC is decoded to the same
/// bytes.
final class StoredSound {
    private let audio: AudioFile
    private let site: TakeSite
    /// For FLAC.
    private var reader: SoundFileReader?
    /// Bytes that were read.
    private var place: Int64 = 0
    private(set) var isOver: Bool

    init(_ audio: AudioFile, at site: TakeSite) throws(FileError) {
        self.audio = audio
        self.site = site
        isOver = audio.dataBytes == 0
        guard audio.name.hasSuffix(".flac") else { return }
        do throws(SoundFileError) {
            reader = try SoundFileReader(path: site.path(audio.currentName))
        } catch {
            throw Self.failure(error, audio, at: site)
        }
    }

    /// Reads whole frames of at most `byteCount` bytes.
    /// - Returns: the next bytes; empty after the last ones.
    func next(atMost byteCount: Int) throws(FileError) -> [UInt8] {
        let bytesPerFrame = audio.header.format.bytesPerFrame
        let slice = Int64(max(1, byteCount / bytesPerFrame) * bytesPerFrame)
        let wanted = Int(min(slice, audio.dataBytes - place))
        let bytes = try read(wanted)
        place += Int64(bytes.count)
        isOver = bytes.count < wanted || place >= audio.dataBytes
        return bytes
    }

    private func read(_ byteCount: Int) throws(FileError) -> [UInt8] {
        guard audio.name.hasSuffix(".flac") else {
            let file = try site.files.open(site.path(audio.currentName))
            return try site.files.read(file, at: Int64(WAVHeader.byteCount) + place, count: byteCount)
        }
        let size = audio.header.format.sampleFormat.bytesPerSample
        var samples = [Int32](repeating: 0, count: byteCount / size)
        let channels = audio.header.format.channels
        var span = samples.mutableSpan
        let count: Int
        do throws(SoundFileError) {
            count = try reader?.read(into: &span) ?? 0
        } catch {
            throw Self.failure(error, audio, at: site)
        }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(count * channels * size)
        for sample in samples.prefix(count * channels) {
            for index in 0..<size { bytes.append(UInt8(truncatingIfNeeded: sample >> (32 - 8 * size + 8 * index))) }
        }
        return bytes
    }

    /// The error for a file that the library cannot decode.
    private static func failure(_ error: SoundFileError, _ audio: AudioFile, at site: TakeSite) -> FileError {
        error.storage ?? FileError("decode", site.path(audio.currentName), code: EIO)
    }
}
