public import Files
import GRDB
import Glibc
public import Takes

/// The index of all takes: an SQLite database that can be rebuilt from the files.
///
/// The sidecars and the library's own files are authoritative. The database only makes searches fast. Thread-safe.
public final class Catalog: Sendable {
    /// The library's folder, which contains the database and the library's own files.
    public let directory: String
    let database: DatabasePool
    let notes: NotesFolder
    /// The names of the stores to which every take is sent.
    public let stores: [String]
    public let changes: CatalogChanges

    /// Opens or creates the catalog in the library's folder, and migrates an older one.
    ///
    /// A damaged database is renamed to `….damaged` and replaced by a new one.
    /// - Parameters:
    ///   - isNew: always begins a new database.
    ///   - stores: the names of the stores to which every take is sent.
    ///   - report: called with a sentence when an own file is renamed because it cannot be read completely.
    /// - Returns: the catalog, and why the previous database is no longer used, or nil if it is used or did not exist.
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
        } catch let error as CatalogError where error.isOfDamage {
            try setAside(path)
            let catalog = Catalog(directory, try opened(path), notes, stores, CatalogChanges())
            let problem = "catalog: \(path): \(error.cause): kept as \(path).damaged, and built again"
            return (catalog, problem)
        }
    }

    /// Whether an error means that the database is damaged, so that the catalog must be replaced.
    public static func isDamage(_ error: any Error) -> Bool { (error as? CatalogError)?.isOfDamage ?? false }

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

    /// Renames the database as damaged, and begins a new one. After that, this object must not be used.
    public func replacement() throws -> Catalog {
        try? database.close()
        let path = Self.databasePath(in: directory)
        try Self.setAside(path)
        return Catalog(directory, try Self.opened(path), notes, stores, changes)
    }

    /// Closes the database and leaves a single file with everything. After that, the catalog must not be used.
    public func close() throws {
        // The last connection to be closed is read-only, and would leave the write-ahead log in place.
        _ = try? database.writeWithoutTransaction { try $0.checkpoint(.truncate) }
        try database.close()
    }

    /// The takes for which the library has own files, usually identified by their stems only.
    public func takesWithNotes() throws -> Set<TakeIdentity> { try notes.takes() }

    /// The modification time of the library's own file of a take in nanoseconds since 1970, or 0 without a file.
    public func notesModified(of take: TakeIdentity) -> Int64 { notes.modified(take) }

    public static func databasePath(in directory: String) -> String { "\(directory)/catalog.sqlite" }

    /// Reads in one transaction.
    /// - Throws: `CatalogError`, and the errors of `body`.
    func read<Result>(_ body: (Database) throws -> Result) throws -> Result {
        try naming("read") { try database.read(body) }
    }

    /// Writes in one transaction, of which nothing is left if `body` throws.
    /// - Throws: `CatalogError`, and the errors of `body`.
    func write<Result>(_ body: (Database) throws -> Result) throws -> Result {
        try naming("write") { try database.write(body) }
    }

    /// Names the database in the errors of SQLite, which do not.
    func naming<Result>(_ operation: String, _ body: () throws -> Result) throws -> Result {
        try Self.naming(operation, Self.databasePath(in: directory), body)
    }

    private static func naming<Result>(
        _ operation: String, _ path: String, _ body: () throws -> Result
    ) throws -> Result {
        do {
            return try body()
        } catch let error as DatabaseError {
            throw CatalogError(operation, path, error)
        }
    }

    private static func opened(_ path: String) throws -> DatabasePool {
        try naming("open", path) { try migrated(path) }
    }

    private static func migrated(_ path: String) throws -> DatabasePool {
        var configuration = Configuration()
        configuration.label = "catalog"
        configuration.maximumReaderCount = 2
        configuration.busyMode = .timeout(5)
        configuration.prepareDatabase { database in
            // A small cache is sufficient (1 MiB): the pages for a list of 100 000 takes are in the system's page
            // cache.
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
