import FoundationEssentials
import Glibc
import TakeFiles
public import Takes

/// The library's own files of the takes, `takes/STEM.json` in its folder: what it alone knows, and a new catalog reads again.
public struct NotesFolder: Sendable {
    /// The folder of the files.
    public let path: String
    private let files: FileSystem
    private let folder: OpenFile
    /// Called with a sentence when a file that cannot be read, or not all of it, gets another name.
    private let report: @Sendable (String) -> Void

    /// A name of which there is no file: the path, or it with a number.
    private static func free(_ path: String) -> String {
        let names = [path] + (2...99).map { "\(path)\($0)" }
        return names.first { unsafe access($0, F_OK) != 0 } ?? path
    }

    /// More is no file of the library's: each byte of a marker's note may be written as six.
    private static let longest = 1 << 22

    init(in directory: String, files: FileSystem, report: @escaping @Sendable (String) -> Void) throws(FileError) {
        self.report = report
        path = "\(directory)/takes"
        self.files = files
        folder = try files.makeFolder(path)
    }

    /// The file of a take.
    public func file(of take: String) -> String { "\(path)/\(take).json" }

    /// The takes that have a file.
    func takes() throws(FileError) -> Set<String> {
        Set(try files.entries(path).compactMap { $0.hasSuffix(".json") ? String($0.dropLast(5)) : nil })
    }

    /// When the file of a take changed, in nanoseconds since 1970; 0: it has none.
    func modified(_ take: String) -> Int64 { (try? files.attributes(file(of: take)))?.modifiedNs ?? 0 }

    /// Returns the notes of a take that can be read; empty notes if it has no file.
    /// - Throws: `FileError`; `NotesError` if nothing of the file can be read.
    public func notes(of take: String) throws -> TakeNotes { try read(take).notes }

    /// Returns the same, and the error of the rest, or nil if all of it was read.
    func read(_ take: String) throws -> (notes: TakeNotes, problem: NotesError?) {
        let path = file(of: take)
        let bytes: [UInt8]
        do throws(FileError) {
            bytes = try files.contents(path, limit: Self.longest + 1)
        } catch {
            guard error.code == ENOENT else { throw error }
            return (TakeNotes(take: take), nil)
        }
        guard bytes.count <= Self.longest else { throw NotesError(path: path, problem: "it is too long") }
        guard let found = try? JSONDecoder().decode(ReadNotes.self, from: Data(bytes)) else {
            throw NotesError(path: path, problem: "it is not of the form that the library writes")
        }
        guard found.notes.take == take else { throw NotesError(path: path, problem: "it is of another take") }
        guard let first = found.unreadable.first else { return (found.notes, nil) }
        let more = found.unreadable.count == 1 ? "" : " (and \(found.unreadable.count - 1) more)"
        return (found.notes, NotesError(path: path, problem: "\(first) cannot be read\(more)", isUsable: true))
    }

    private func problem(_ take: String) throws -> NotesError? {
        do {
            return try read(take).problem
        } catch let error as NotesError {
            return error
        }
    }

    /// Writes what is noted of a take. It is on the disk when this returns. A file that cannot be read, or not all of it, is kept under a
    /// name that ends in `.damaged`.
    /// - Throws: `FileError`; then the old file is on the disk.
    func write(_ notes: TakeNotes) throws {
        let path = file(of: notes.take)
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        let bytes = try Array(encoder.encode(notes)) + [0x0a]
        if let problem = try problem(notes.take) {
            let kept = Self.free(path + ".damaged")
            try files.move(path, to: kept)
            report("\(problem): it is kept as \(kept)")
        }
        let draft = path + ".tmp"
        let file = try files.create(draft, isNew: false)
        try files.write(bytes, to: file, at: 0)
        try files.sync(file)
        try files.move(draft, to: path)
        try files.syncFolder(folder)
    }
}

/// One of the library's own files that cannot be read, or not all of it.
public struct NotesError: Error, Hashable, CustomStringConvertible {
    /// The file.
    public var path: String
    /// What is wrong with it.
    public var problem: String
    /// Whether the rest of it is used.
    public var isUsable = false

    /// One sentence.
    public var description: String {
        "notes: \(path): \(isUsable ? "is used in part" : "cannot be used"): \(problem)"
    }
}
