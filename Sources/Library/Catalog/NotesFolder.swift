import Files
import FoundationEssentials
import Glibc
import Takes

/// The library's own files of the takes. They contain what only the library knows, and a rebuilt catalog reads them
/// again.
///
/// The file of a take is `takes/STEM.json`, as in versions that identify takes by their stems only. It contains the
/// kit's id. If takes of other kits have the same stem, their files are `takes/STEM.KIT-ID.json`.
public struct NotesFolder: Sendable {
    public let path: String
    private let files: FileSystem
    private let folder: OpenFile
    /// Called with a sentence when a file that cannot be read completely is renamed.
    private let report: @Sendable (String) -> Void

    /// An unused name: the path itself, or the path with a number.
    private static func free(_ path: String) -> String {
        let names = [path] + (2...99).map { "\(path)\($0)" }
        return names.first { unsafe access($0, F_OK) != 0 } ?? path
    }

    /// A longer file was not written by the library. JSON may need six bytes for each byte of a marker's note.
    private static let longest = 1 << 22

    init(in directory: String, files: FileSystem, report: @escaping @Sendable (String) -> Void) throws(FileError) {
        self.report = report
        path = "\(directory)/takes"
        self.files = files
        folder = try files.makeFolder(path)
    }

    public func file(of stem: String) -> String { "\(path)/\(stem).json" }

    /// The file of a kit's take if another take has the file with the plain stem.
    private func file(of stem: String, _ kit: KitID) -> String { file(of: "\(stem).\(kit)") }

    /// The path of a take's file, whether or not it exists. The file with the plain stem may be that of another kit's
    /// take.
    private func file(of take: TakeIdentity) -> String {
        guard let kit = take.origin.kitID else { return file(of: take.stem) }
        let own = file(of: take.stem, kit)
        return unsafe access(own, F_OK) == 0 ? own : file(of: take.stem)
    }

    /// The takes that have a file. A file with the plain stem is listed by the stem only, because only its content
    /// identifies the kit.
    func takes() throws(FileError) -> Set<TakeIdentity> {
        Set(
            try files.entries(path).compactMap { name in
                guard name.hasSuffix(".json") else { return nil }
                let stem = name.dropLast(5)
                guard let dot = stem.lastIndex(of: "."), let kit = KitID(String(stem[stem.index(after: dot)...])),
                    let take = TakeName(stem: String(stem[..<dot]), day: "")
                else { return TakeIdentity(stem: String(stem)) }
                return TakeIdentity(stem: take.stem, number: take.number, kitID: kit)
            })
    }

    /// The modification time of a take's file in nanoseconds since 1970, or 0 if it does not exist.
    func modified(_ take: TakeIdentity) -> Int64 { (try? files.attributes(file(of: take)))?.modifiedNs ?? 0 }

    /// The readable notes of a take, and the error of the rest, or nil if all of it was read. Without a file, the notes
    /// are empty.
    ///
    /// For a take that is identified by its stem only, the file's kit id is ignored, because its sidecar may have been
    /// rebuilt.
    /// - Throws: `FileError`; `NotesError` if nothing of the file can be read.
    func read(_ take: TakeIdentity) throws -> (notes: TakeNotes, problem: NotesError?) {
        let found = try read(file(of: take), take.stem)
        return isOfOther(found.notes, than: take) ? (TakeNotes(take: take.stem), nil) : found
    }

    private func isOfOther(_ notes: TakeNotes, than take: TakeIdentity) -> Bool {
        guard let kit = take.origin.kitID, let other = notes.kitID else { return false }
        return kit != other
    }

    private func read(_ path: String, _ take: String) throws -> (notes: TakeNotes, problem: NotesError?) {
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

    /// Writes the notes of a take. They are on the disk when this returns. A previous file that cannot be read
    /// completely is renamed to `….damaged`.
    /// - Throws: `FileError`, and the old content remains on the disk.
    func write(_ notes: TakeNotes, of take: TakeIdentity) throws {
        var (notes, path, problem) = (notes, file(of: take), NotesError?.none)
        do {
            let there: TakeNotes
            (there, problem) = try read(path, take.stem)
            if let kit = take.origin.kitID, isOfOther(there, than: take) {
                (path, problem) = (file(of: take.stem, kit), nil)
            }
        } catch let error as NotesError {
            problem = error
        }
        if let kit = take.origin.kitID { notes.kitID = kit }
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        let bytes = try Array(encoder.encode(notes)) + [0x0a]
        if let problem {
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

/// One of the library's own files cannot be read completely.
public struct NotesError: Error, Hashable, CustomStringConvertible {
    public var path: String
    public var problem: String
    /// Whether the readable rest is used.
    public var isUsable = false

    public var description: String {
        "notes: \(path): \(isUsable ? "is used in part" : "cannot be used"): \(problem)"
    }
}
