import FoundationEssentials
import Glibc
import TakeFiles
import Takes

/// The library's own files of the takes, in its folder: what it alone knows, and a new catalog reads again.
///
/// The file of a take is `takes/STEM.json`, as in versions that know takes by their stems alone. It says which kit's take it is of. Takes of
/// other kits that have the same stem have `takes/STEM.KIT-ID.json`.
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

    /// The file that has the name of a stem.
    public func file(of stem: String) -> String { "\(path)/\(stem).json" }

    /// The file of a kit's take beside another one that has the name of the stem.
    private func file(of stem: String, _ kit: KitID) -> String { file(of: "\(stem).\(kit)") }

    /// The file that a take has, if it has one. That with the name of its stem may be of another kit's take.
    private func file(of take: TakeIdentity) -> String {
        guard let kit = take.origin.kitID else { return file(of: take.stem) }
        let own = file(of: take.stem, kit)
        return unsafe access(own, F_OK) == 0 ? own : file(of: take.stem)
    }

    /// The takes that have a file. Which kit's take a file is of that has the name of a stem, only its content says: it is listed by the stem.
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

    /// When the file of a take changed, in nanoseconds since 1970; 0: it has none.
    func modified(_ take: TakeIdentity) -> Int64 { (try? files.attributes(file(of: take)))?.modifiedNs ?? 0 }

    /// Returns the notes of a take that can be read, and the error of the rest, or nil if all of it was read. Empty notes if it has no file.
    ///
    /// A take that is known by its stem alone has the file of that name, whatever it says: the sidecar may have been made anew.
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

    /// Writes what is noted of a take. It is on the disk when this returns. A file that cannot be read, or not all of it, is kept under a
    /// name that ends in `.damaged`.
    /// - Throws: `FileError`; then the old file is on the disk.
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
