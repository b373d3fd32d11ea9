import GRDB
import Glibc
public import TakeFiles
public import Takes

/// The index of all takes: an SQLite database that can be made again from the files.
///
/// The sidecars and the library's own files are the truth; what is here serves to find takes fast. May be used by any thread.
public final class Catalog: Sendable {
    /// The folder of the library, which holds the database and the own files.
    public let directory: String
    let database: DatabasePool
    let notes: NotesFolder
    /// The names of the stores that every take is to be sent to.
    public let stores: [String]
    /// What changes from now on.
    public let changes: CatalogChanges

    /// Opens the catalog in the library's folder, or makes it, and brings an older one up to date.
    ///
    /// A database that is damaged is set aside, under a name that ends in `.damaged`, and a new one is begun.
    /// - Parameters:
    ///   - isNew: begins a new one in any case.
    ///   - stores: the names of the stores that every take is to be sent to.
    ///   - report: called with a sentence when one of the own files that cannot be read, or not all of it, gets another name.
    /// - Returns: the catalog, and why the database that was there is not used any more; nil: it is, or there was none.
    /// - Throws: `CatalogError`.
    public static func open(
        in directory: String, isNew: Bool = false, stores: [String] = [], files: FileSystem = FileSystem(),
        report: @escaping @Sendable (String) -> Void = { _ in }
    ) throws -> (Catalog, problem: String?) {
        let path = databasePath(in: directory)
        let notes = try NotesFolder(in: directory, files: files, report: report)
        if isNew { try remove(path) }
        do {
            return (Catalog(directory, try opened(path), notes, stores, CatalogChanges()), nil)
        } catch let error as DatabaseError where error.isOfDamage {
            try setAside(path)
            let catalog = Catalog(directory, try opened(path), notes, stores, CatalogChanges())
            let problem = "catalog: \(path): \(error.message ?? "damaged"): kept as \(path).damaged, and built again"
            return (catalog, problem)
        } catch let error as DatabaseError where error.resultCode == .SQLITE_FULL {
            throw CatalogError("write", path, code: ENOSPC)
        }
    }

    /// Whether an error means that the database is damaged, so that the catalog is to be opened again.
    public static func isDamage(_ error: any Error) -> Bool {
        (error as? DatabaseError)?.isOfDamage ?? false
    }

    private init(
        _ directory: String, _ database: DatabasePool, _ notes: NotesFolder, _ stores: [String],
        _ changes: CatalogChanges
    ) {
        self.directory = directory
        self.database = database
        self.notes = notes
        self.stores = stores
        self.changes = changes
    }

    /// Sets the database aside, as one that is damaged, and begins a new one. This one cannot be used any more.
    public func replacement() throws -> Catalog {
        try? database.close()
        let path = Self.databasePath(in: directory)
        try Self.setAside(path)
        return Catalog(directory, try Self.opened(path), notes, stores, changes)
    }

    /// Closes the database, as one file that has everything. The catalog cannot be used any more.
    public func close() throws {
        // The connection that is closed last only reads, and would leave the write-ahead log as it is.
        _ = try? database.writeWithoutTransaction { try $0.checkpoint(.truncate) }
        try database.close()
    }

    /// The takes that the library has own files of; as a rule by their stems alone.
    public func takesWithNotes() throws -> Set<TakeIdentity> { try notes.takes() }

    /// When the library's own file of a take changed, in nanoseconds since 1970; 0: it has none.
    public func notesModified(of take: TakeIdentity) -> Int64 { notes.modified(take) }

    /// Where the database is.
    public static func databasePath(in directory: String) -> String { "\(directory)/catalog.sqlite" }

    private static func opened(_ path: String) throws -> DatabasePool {
        var configuration = Configuration()
        configuration.label = "catalog"
        configuration.maximumReaderCount = 2
        configuration.busyMode = .timeout(5)
        configuration.prepareDatabase { database in
            // What a list of 100 000 takes reads is in the system's cache.
            try database.execute(sql: "PRAGMA synchronous = FULL; PRAGMA cache_size = -1024; PRAGMA foreign_keys = ON")
        }
        let database = try DatabasePool(path: path, configuration: configuration)
        guard try database.read({ try String.fetchOne($0, sql: "PRAGMA quick_check(1)") }) == "ok" else {
            try database.close()
            throw DatabaseError(resultCode: .SQLITE_CORRUPT, message: "its check found damage")
        }
        try CatalogSchema.migrator.migrate(database)
        try database.write(CatalogSchema.distrustOthers)
        return database
    }

    private static let suffixes = ["", "-wal", "-shm"]

    private static func setAside(_ path: String) throws {
        for suffix in suffixes {
            guard unsafe rename(path + suffix, "\(path).damaged\(suffix)") == 0 || errno == ENOENT else {
                throw CatalogError("set aside", path + suffix, code: errno)
            }
        }
    }

    private static func remove(_ path: String) throws {
        for suffix in suffixes {
            guard unsafe unlink(path + suffix) == 0 || errno == ENOENT else {
                throw CatalogError("remove", path + suffix, code: errno)
            }
        }
    }
}

extension DatabaseError {
    /// Whether the database's file is damaged, or no database.
    fileprivate var isOfDamage: Bool {
        resultCode == .SQLITE_CORRUPT || resultCode == .SQLITE_NOTADB
    }
}

/// Something that could not be done to the library's own files.
public struct CatalogError: Error, Hashable, CustomStringConvertible {
    /// What was attempted.
    public var operation: String
    /// On what.
    public var path: String
    /// The system's error number, `errno(3)`.
    public var code: Int32

    init(_ operation: String, _ path: String, code: Int32) {
        self.operation = operation
        self.path = path
        self.code = code
    }

    /// One sentence.
    public var description: String {
        // Safe: a string that lives until the next call on this thread.
        let reason = unsafe String(cString: strerror(code))
        let advice = code == ENOSPC ? "free some space there" : "the library's user must be allowed to write there"
        return "catalog: cannot \(operation) \(path): \(reason): \(advice)"
    }
}
