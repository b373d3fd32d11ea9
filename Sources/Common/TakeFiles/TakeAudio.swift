import Files
public import Takes

/// Reads the sound of a finished take part by part.
///
/// The lengths and formats come from the audio files; the sidecar only names the files. For one thread at a time.
public final class TakeAudio {
    public struct Part: Hashable, Sendable {
        public var path: String
        public var format: StreamFormat
        public var frames: Int64
    }

    public let take: TakeName
    /// Never empty.
    public private(set) var parts: [Part]

    /// A sound file cannot be longer. FLAC that was encoded to a stream reports such a length.
    private static let mostFrames = Int64(1) << 48
    private var reader: SoundFileReader?
    private var openPart: Int?

    /// Checks all audio files of a take. Each may be WAV or FLAC, since takes are converted even while they are read.
    /// - Throws: `FileError`, `SoundFileError` or `TakeAudioError`.
    public init(of take: TakeName, in directory: TakesDirectory) throws {
        self.take = take
        let folder = "\(directory.path)/\(take.day)"
        let names = try Self.names(of: take, in: directory, folder: folder)
        parts = try names.map { name in
            let file = try Self.open("\(folder)/\(name)")
            guard file.frames <= Self.mostFrames else {
                throw TakeAudioError(take: take, problem: "its file \(file.path) does not report its length")
            }
            return Part(path: file.path, format: file.format, frames: file.frames)
        }
    }

    /// Reads frames of a part.
    /// - Parameters:
    ///   - part: its index, from 0.
    ///   - frame: the first frame to read. Sequential reads do not seek.
    ///   - samples: interleaved, full scale 1, whole frames of the part's channels.
    /// - Returns: the number of frames read; fewer only at the part's end.
    public func read(part: Int, at frame: Int64, into samples: inout MutableSpan<Double>) throws(SoundFileError) -> Int
    {
        if openPart != part {
            openPart = nil
            let file = try Self.open(parts[part].path)
            guard file.format == parts[part].format, file.frames == parts[part].frames else {
                throw SoundFileError(
                    operation: "open", path: file.path, problem: "it is not the file that was there before")
            }
            parts[part].path = file.path
            reader = consume file
            openPart = part
            place = 0
        }
        do throws(SoundFileError) {
            if place != frame { try reader?.seek(toFrame: frame) }
            let count = try reader?.read(into: &samples) ?? 0
            place = frame + Int64(count)
            return count
        } catch {
            openPart = nil
            throw error
        }
    }

    /// Opens an audio file. If it does not exist any more, it opens the file with the other extension, to which it was
    /// converted meanwhile.
    private static func open(_ path: String) throws(SoundFileError) -> SoundFileReader {
        do throws(SoundFileError) {
            return try SoundFileReader(path: path)
        } catch {
            let endings = [".wav": ".flac", ".flac": ".wav"]
            guard let ending = endings.keys.first(where: path.hasSuffix), let other = endings[ending] else {
                throw error
            }
            // Report the error of the requested file.
            guard let file = try? SoundFileReader(path: path.dropLast(ending.count) + other) else { throw error }
            return file
        }
    }

    /// The next frame of the open part's reader.
    private var place: Int64 = 0

    /// The audio files that the sidecar names, under their current names. Without a sidecar, the files with the take's
    /// name.
    private static func names(of take: TakeName, in directory: TakesDirectory, folder: String) throws -> [String] {
        let there = Set(try directory.files.entries(folder))
        let named: [String]
        do {
            named = try directory.sidecar(of: take).parts.map(\.file)
        } catch is SidecarError {
            named = parts(of: take, among: there, in: folder, directory.files)
        }
        let names = try named.map { name in
            guard let name = found(name, in: there) else {
                throw TakeAudioError(take: take, problem: "its file \(folder)/\(name) is not there")
            }
            return name
        }
        guard !names.isEmpty else { throw TakeAudioError(take: take, problem: "it has no audio file in \(folder)") }
        return names
    }

    /// The names of the parts from the first one, up to the first missing part.
    private static func parts(
        of take: TakeName, among names: Set<String>, in folder: String, _ files: FileSystem
    ) -> [String] {
        let sounds = TakeListing.files(of: take, in: names.sorted(), folder: folder, files: files).filter {
            $0.hasSuffix(".wav") || $0.hasSuffix(".flac")
        }
        .compactMap { file in TakeFileName(file).map { (file, $0) } }.filter { !$0.1.isUnfiltered }
        let byPart = Dictionary(sounds.map { ($0.1.part, $0.0) }) { $1 }
        return (1...).lazy.map { byPart[$0] }.prefix { $0 != nil }.compactMap(\.self)
    }

    private static func found(_ name: String, in there: Set<String>) -> String? {
        let stem = name.prefix { $0 != "." }
        return [name, "\(stem).wav", "\(stem).flac"].first(where: there.contains)
    }
}

/// A take whose sound is missing.
public struct TakeAudioError: Error, Hashable, CustomStringConvertible {
    public var take: TakeName
    public var problem: String

    /// One sentence.
    public var description: String { "\(take.stem): \(problem)" }
}
