public import Takes

/// The sound of a finished take: its parts, to be read in order.
///
/// The audio files say what they hold; the sidecar only names them. For one thread at a time.
public final class TakeAudio {
    /// One audio file of the take.
    public struct Part: Hashable, Sendable {
        /// Where it is.
        public var path: String
        /// What it holds.
        public var format: StreamFormat
        /// How much of it.
        public var frames: Int64
    }

    /// The take.
    public let take: TakeName
    /// Its parts; never none.
    public private(set) var parts: [Part]

    /// Longer is no sound file: FLAC that was made on the fly says so of itself.
    private static let mostFrames = Int64(1) << 48
    private var reader: SoundFileReader?
    private var openPart: Int?

    /// Checks all audio files of a take. Each may be WAV or FLAC, whichever is there: takes are converted,
    /// even while they are read.
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

    /// Reads on in a part.
    /// - Parameters:
    ///   - part: its number, from 0.
    ///   - frame: where to begin; what is read on from the last time is not sought again.
    ///   - samples: interleaved, full scale 1, whole frames of the part's channels.
    /// - Returns: how many frames were read; fewer only at the part's end.
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

    /// Opens an audio file; if it is not there any more, the same under its other ending, to which it was converted meanwhile.
    private static func open(_ path: String) throws(SoundFileError) -> SoundFileReader {
        do throws(SoundFileError) {
            return try SoundFileReader(path: path)
        } catch {
            let endings = [".wav": ".flac", ".flac": ".wav"]
            guard let ending = endings.keys.first(where: path.hasSuffix), let other = endings[ending] else {
                throw error
            }
            // The error to report is that of the requested file.
            guard let file = try? SoundFileReader(path: path.dropLast(ending.count) + other) else { throw error }
            return file
        }
    }

    /// The frame that the open part's reader comes to next.
    private var place: Int64 = 0

    /// The audio files that the sidecar names, under the names that they have now; without a sidecar those that are called
    /// after the take.
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

    /// The names of the parts from the first on, as far as none is missing.
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

/// A take whose sound is not there.
public struct TakeAudioError: Error, Hashable, CustomStringConvertible {
    /// The take.
    public var take: TakeName
    /// What is wrong.
    public var problem: String

    /// One sentence.
    public var description: String { "\(take.stem): \(problem)" }
}
