import DiskCalls
import FinishedTakes
import GRDB
import Glibc
import Takes
import Testing

@testable import Catalog

@Suite(.waitsOnNamedThreads) struct CatalogErrorTests {
    private let takes: CatalogedTakes
    private var path: String { Catalog.databasePath(in: takes.disk.library) }

    init() throws { takes = try CatalogedTakes() }

    @Test(arguments: [
        (ResultCode.SQLITE_FULL, "No space left on device: free some space there"),
        (
            .SQLITE_READONLY_DIRECTORY,
            "x (SQLite error 1544): the library's user must be allowed to write there"
        ),
        (.SQLITE_IOERR_READ, "x (SQLite error 266): check that storage"),
        (.SQLITE_BUSY, "x (SQLite error 5): another program uses it, stop that program"),
        (.SQLITE_CORRUPT, "x (SQLite error 11): the library builds it again"),
        (.SQLITE_NOMEM, "x (SQLite error 7): the kit has too little free memory"),
        (.SQLITE_MISUSE, "x (SQLite error 21): it was closed meanwhile, try again"),
        (
            .SQLITE_ERROR,
            "x (SQLite error 1): stop the library, and build it again with 'fieldfare-library --rebuild'"
        ),
    ])
    func `an error of SQLite names the file, the reason, and what to do`(_ code: ResultCode, _ end: String) {
        let error = CatalogError("write", "/l/catalog.sqlite", DatabaseError(resultCode: code, message: "x"))
        #expect(error.description == "catalog: cannot write /l/catalog.sqlite: \(end)")
    }

    @Test func `an error of the system names the file, the reason, and what to do`() {
        #expect(
            CatalogError("set aside", "/l/catalog.sqlite", code: EACCES).description
                == "catalog: cannot set aside /l/catalog.sqlite: Permission denied: "
                + "the library's user must be allowed to write there")
    }

    @Test func `a database that cannot be opened is named`() throws {
        try takes.catalog.close()
        for ending in ["", "-wal", "-shm"] { unlink(path + ending) }
        mkdir(path, 0o700)
        let error = #expect(throws: CatalogError.self) { _ = try Catalog.open(in: takes.disk.library) }
        #expect(
            error?.description
                == "catalog: cannot open \(path): unable to open database file (SQLite error 14): "
                + "the library's user must be allowed to write there")
    }

    @Test func `a database that cannot be read, or written, is named`() throws {
        try takes.catalog.database.write { try $0.execute(sql: "DROP TABLE upload; DROP TABLE take") }
        let advice = "stop the library, and build it again with 'fieldfare-library --rebuild'"
        let reading = #expect(throws: CatalogError.self) { try takes.catalog.counts() }
        #expect(
            reading?.description
                == "catalog: cannot read \(path): no such table: take (SQLite error 1): \(advice)")
        let writing = #expect(throws: CatalogError.self) { try takes.catalog.beginFilling() }
        #expect(
            writing?.description
                == "catalog: cannot write \(path): no such table: take (SQLite error 1): \(advice)")
    }
}
