import Files
import Spectra
import TakeFiles
import Takes

/// The folder with the files of columns: `BASE.spectrum` for each filtered part of a take, whose audio file is `BASE.wav`
/// or `BASE.flac`. It is a cache: anybody may delete it at any time. Thread-safe.
struct SpectraFolder: Sendable {
    let path: String
    let files: FileSystem

    private static let ending = ".spectrum"

    init(_ path: String, files: FileSystem) {
        self.path = path
        self.files = files
    }

    /// The path of a part's file, whether or not it exists.
    /// - Parameter base: the name of the part's audio file without its extension.
    func path(of base: String) -> String { "\(path)/\(base)\(Self.ending)" }

    /// The columns of a sound, or nil if its file is missing, incomplete or that of another sound.
    func reader(of sound: RecordedSound) -> SpectraReader? {
        guard let sha256 = sound.sha256?.lowercased(),
            let reader = try? SpectraReader(path(of: sound.base), files: files), reader.sha256 == sha256,
            reader.frames == sound.frames, reader.format.rateHz == sound.format.rateHz,
            reader.format.channels == sound.format.channels
        else { return nil }
        return reader
    }

    /// Makes the folder, unless it exists.
    func make() throws(FileError) { _ = try files.makeFolder(path, mode: 0o700) }

    /// Begins a file. The folder must exist.
    /// - Throws: `FileError`, `SpectraError`.
    func writer(of sound: RecordedSound) throws -> SpectraWriter {
        try SpectraWriter(path(of: sound.base), sound: sound.format, frames: sound.frames, files: files)
    }

    /// The parts that have a file; none if the folder does not exist.
    func bases() -> Set<String> { bases(Self.ending) }

    /// The parts that have a draft, which may belong to a process that was killed.
    func drafts() -> Set<String> { bases(Self.ending + SpectraWriter.draftEnding) }

    private func bases(_ ending: String) -> Set<String> {
        let names = (try? files.entries(path)) ?? []
        return Set(names.filter { $0.hasSuffix(ending) }.map { String($0.dropLast(ending.count)) })
    }

    /// Removes a part's file, as far as possible.
    func remove(_ base: String) { try? files.remove(path(of: base)) }

    func removeDraft(_ base: String) { try? files.remove(path(of: base) + SpectraWriter.draftEnding) }

    /// The length of a part's file, or nil if it does not exist.
    func byteCount(of base: String) -> Int64? { (try? files.attributes(path(of: base)))?.byteCount }

    /// The room on the file system of the folder, which must exist.
    func space(usedBytes: Int64) throws(FileError) -> SpectraGate.Space {
        SpectraGate.Space(
            freeBytes: try files.freeBytes(path), totalBytes: (try? files.totalBytes(path)) ?? 0, usedBytes: usedBytes)
    }
}
