import DiskCalls
import Files
import FinishedTakes
import GRDB
import Glibc
import TakeFiles
import Takes
import Testing
import Transport

@testable import Catalog

/// A catalog of takes on the disk, filled in the same way as by the library.
struct CatalogedTakes {
    let disk = TakesOnDisk()
    let catalog: Catalog
    let storage: Storage
    let number: Int64

    init(stores: [String] = []) throws {
        catalog = try Catalog.open(in: disk.library, stores: stores).0
        storage = try #require(Storage(at: disk.takes))
        number = try #require(try catalog.setPresent([storage])[storage])
    }

    @discardableResult
    func add(_ sidecar: Sidecar, audioBytes: Int = 44) throws -> String {
        let name = try disk.add(sidecar, audioBytes: audioBytes)
        let take = try StoredTake(name, in: TakesFolder(path: disk.takes))
        #expect(try catalog.index([take], on: number, at: disk.takes).isEmpty)
        return name.stem
    }

    /// The rows of `upload`, with stems instead of row ids.
    static func uploads(_ catalog: Catalog) throws -> [String] {
        try catalog.database.read { database in
            try Row.fetchAll(
                database,
                sql: """
                    SELECT take, store, state, why, untilUs, upload.revision, attempts, upload.isStarred, upload.startedUs
                    FROM upload JOIN take USING (id) ORDER BY take, store
                    """
            ).map { row in row.map { "\($0.0)=\($0.1)" }.joined(separator: "|") }
        }
    }

    func stems(_ query: TakeQuery) throws -> [String] { try catalog.page(query).takes().map(\.take) }
}

@Suite(.waitsOnNamedThreads) struct CatalogTests {
    @Test func `the tables are those that earlier versions know`() throws {
        #expect(try tables(CatalogedTakes().catalog).joined(separator: "\n") == Self.schema)
    }

    @Test func `a row that is added has each property in the column of its name`() throws {
        let takes = try CatalogedTakes()
        let name = try takes.disk.add(TakesOnDisk.sidecar(17))
        let take = try StoredTake(name, in: TakesFolder(path: takes.disk.takes))
        var row = TakeRow(
            take, notes: TakeNotes(take: name.stem), notesModifiedNs: 2, storage: 13, place: takes.disk.takes)
        // No two values are equal.
        row.id = 14
        (row.sidecarByteCount, row.sidecarModifiedNs, row.sidecarInode, row.notesSeenNs) = (3, 4, 5, 6)
        (row.startedUs, row.durationUs, row.byteCount, row.markerCount) = (7, 8, 9, 10)
        (row.isStarred, row.loudness, row.quietness) = (true, -11, -12)
        let stored = try takes.catalog.database.write { database in
            try database.execute(sql: "INSERT INTO storage (id, mark, path, isHere) VALUES (13, 'other', '/other', 1)")
            try row.add(to: database)
            return try Row.fetchOne(database, sql: "SELECT * FROM take")
        }
        var columns = Dictionary(uniqueKeysWithValues: try #require(stored).map { ($0.0, $0.1) })
        // It is computed from the others.
        columns["origin"] = nil
        let expected = try row.databaseDictionary
        #expect(columns == expected && expected["id"] == 14.databaseValue)
    }

    private func tables(_ catalog: Catalog) throws -> [String] {
        try catalog.database.read { database in
            try String.fetchAll(
                database,
                sql: """
                    SELECT name || ': ' || coalesce(sql, '-') FROM sqlite_master
                    WHERE name NOT GLOB 'takeText_*' AND name NOT GLOB '*grdb_migrations*' ORDER BY name
                    """)
        }
    }

    @Test func `indexes that a first scan leaves out are made after it, also if it was interrupted`() throws {
        let takes = try CatalogedTakes()
        let all = try tables(takes.catalog)
        try takes.catalog.beginFilling()
        #expect(try all.count - tables(takes.catalog).count == CatalogSchema.scatteredOrders.count)
        let stems = try [3, 1, 2].map { number in
            var sidecar = TakesOnDisk.sidecar(number, seconds: Double(number))
            let peak = Double(number - 4)
            sidecar.levels = [
                Sidecar.Levels(peakDBFS: peak, rmsDBFS: peak, clippedFrames: 0, filterClippedFrames: 0)
            ]
            return try takes.add(sidecar, audioBytes: 50 * number)
        }
        var query = TakeQuery()
        for order in [TakeQuery.Order.loudness, .duration, .size] {
            query.order = order
            #expect(try takes.stems(query) == [stems[0], stems[2], stems[1]])
        }
        try takes.catalog.close()
        let catalog = try Catalog.open(in: takes.disk.library).0
        // There are takes, so that no further index is left out.
        try catalog.beginFilling()
        #expect(try all.count - tables(catalog).count == CatalogSchema.scatteredOrders.count)
        for _ in 0..<2 {
            try catalog.endFilling()
            #expect(try tables(catalog) == all)
        }
        try catalog.beginFilling()
        #expect(try tables(catalog) == all)
        #expect(try catalog.page(query).takes().map(\.take) == [stems[0], stems[2], stems[1]])
    }

    private static let schema = """
        index_tag_on_id: CREATE INDEX "index_tag_on_id" ON "tag"("id")
        index_upload_on_id: CREATE INDEX "index_upload_on_id" ON "upload"("id")
        sidecar: CREATE TABLE "sidecar" ("id" INTEGER PRIMARY KEY REFERENCES "take"("id") ON DELETE CASCADE, "json" TEXT NOT NULL)
        sqlite_autoindex_storage_1: -
        storage: CREATE TABLE "storage" ("id" INTEGER PRIMARY KEY, "mark" TEXT NOT NULL UNIQUE, "path" TEXT NOT NULL, \
        "isHere" BOOLEAN NOT NULL)
        tag: CREATE TABLE "tag" ("tag" TEXT NOT NULL, "id" INTEGER NOT NULL REFERENCES "take"("id") ON DELETE CASCADE, \
        PRIMARY KEY ("tag", "id")) WITHOUT ROWID
        take: CREATE TABLE "take" ("id" INTEGER PRIMARY KEY, "take" TEXT NOT NULL, \
        "storage" INTEGER NOT NULL REFERENCES "storage"("id"), "day" TEXT NOT NULL, "sidecarByteCount" INTEGER NOT NULL, \
        "sidecarModifiedNs" INTEGER NOT NULL, "sidecarInode" INTEGER NOT NULL, "notesModifiedNs" INTEGER NOT NULL, \
        "startedUs" INTEGER NOT NULL, "durationUs" INTEGER NOT NULL, "number" INTEGER NOT NULL, "byteCount" INTEGER NOT NULL, \
        "markerCount" INTEGER NOT NULL, "isStarred" BOOLEAN NOT NULL, "entry" TEXT NOT NULL, \
        "notesSeenNs" INTEGER NOT NULL DEFAULT 0, "origin" TEXT GENERATED ALWAYS AS (coalesce(json_extract(entry, \
        '$.kit_id') || ':' || number, take)) VIRTUAL, "loudness" INTEGER NOT NULL DEFAULT -10000000, \
        "quietness" INTEGER NOT NULL DEFAULT 10000000)
        takeByKit: CREATE INDEX takeByKit ON take (json_extract(entry, '$.kit'))
        takeByOrigin: CREATE INDEX takeByOrigin ON take (take, origin)
        takeByPending: CREATE INDEX takeByPending ON take (id) WHERE json_extract(entry, '$.pending_format') IS NOT NULL
        takeByPlace: CREATE INDEX "takeByPlace" ON "take"("storage", "day")
        takeBySound: CREATE INDEX takeBySound ON take (json_extract(entry, '$.sound'), id)
        takeBybyteCount: CREATE INDEX "takeBybyteCount" ON "take"("byteCount", "id", "startedUs", "durationUs", "markerCount", \
        "isStarred", "storage", "loudness")
        takeBydurationUs: CREATE INDEX "takeBydurationUs" ON "take"("durationUs", "id", "startedUs", "markerCount", "isStarred", \
        "storage", "loudness")
        takeByloudness: CREATE INDEX "takeByloudness" ON "take"("loudness", "id", "startedUs", "durationUs", "markerCount", \
        "isStarred", "storage")
        takeBynumber: CREATE INDEX "takeBynumber" ON "take"("number", "id", "startedUs", "durationUs", "markerCount", "isStarred", \
        "storage", "loudness")
        takeByquietness: CREATE INDEX "takeByquietness" ON "take"("quietness", "id", "startedUs", "durationUs", "markerCount", \
        "isStarred", "storage", "loudness")
        takeBystartedUs: CREATE INDEX "takeBystartedUs" ON "take"("startedUs", "id", "durationUs", "markerCount", "isStarred", \
        "storage", "loudness")
        takeText: CREATE VIRTUAL TABLE "takeText" USING fts5(memo, tags, markers, \
        tokenize='''unicode61'' ''remove_diacritics'' ''2''')
        takeWithoutKitKey: CREATE INDEX takeWithoutKitKey ON take (id) WHERE json_type(entry, '$.kit_id') IS NULL
        takeWithoutSpanKey: CREATE INDEX takeWithoutSpanKey ON take (id) WHERE json_type(entry, '$.span_seconds') IS NULL
        upload: CREATE TABLE "upload" ("store" TEXT NOT NULL, "id" INTEGER NOT NULL REFERENCES "take"("id") ON DELETE CASCADE, \
        "state" TEXT NOT NULL, "why" TEXT, "untilUs" INTEGER, "revision" INTEGER NOT NULL, "attempts" INTEGER NOT NULL, \
        "isStarred" BOOLEAN NOT NULL, "startedUs" INTEGER NOT NULL, PRIMARY KEY ("store", "id")) WITHOUT ROWID
        uploadByOrder: CREATE INDEX uploadByOrder ON upload (store, state, isStarred DESC, startedUs, id)
        """

    @Test func `a take is found with all that a list shows`() throws {
        let takes = try CatalogedTakes()
        let sidecar = TakesOnDisk.sidecar(42, seconds: 12.5, markers: ["wren", "robin"])
        try takes.add(sidecar, audioBytes: 1000)
        let page = try takes.catalog.page(TakeQuery())
        let expected = CatalogedTake(
            sidecar, notes: TakeNotes(take: sidecar.take),
            bytes: 1000 + Int64(SidecarFile.bytes(sidecar).count), folder: "\(takes.disk.takes)/2026-11-21",
            place: .here)
        #expect(try page.takes() == [expected])
        #expect(page.next == nil)
        let kept = try #require(try takes.catalog.sidecar(of: sidecar.take))
        #expect(try SidecarFile.sidecar(Array(kept.utf8), path: "kept") == sidecar)
        #expect(kept.hasPrefix("{\"agc\":false,\"boot_id\":"))
    }

    @Test func `spaces go from between values, and stay in texts`() {
        let json = " { \"a b\" : [ 1 ,\n\t2 ] , \"c\" : \" \\\" d \\\\\" , \"e\":\"\"}\r\n"
        let text = String(decoding: StoredTake.withoutSpaces(Array(json.utf8)), as: UTF8.self)
        #expect(text == "{\"a b\":[1,2],\"c\":\" \\\" d \\\\\",\"e\":\"\"}")
    }

    @Test func `a catalog that is closed is one file that has everything`() throws {
        let takes = try CatalogedTakes()
        let sidecar = TakesOnDisk.sidecar(1)
        try takes.add(sidecar)
        try takes.catalog.close()
        for suffix in ["-wal", "-shm"] { unlink(Catalog.databasePath(in: takes.disk.library) + suffix) }
        let (catalog, problem) = try Catalog.open(in: takes.disk.library)
        #expect(problem == nil)
        #expect(try catalog.page(TakeQuery()).takes().map(\.take) == [sidecar.take])
    }

    @Test func `a sidecar that is revised replaces the take, and keeps its place`() throws {
        let takes = try CatalogedTakes()
        var sidecar = TakesOnDisk.sidecar(1, markers: ["wren"])
        try takes.add(sidecar)
        _ = try takes.catalog.note(sidecar.take) { $0.memo = "at the pond" }
        sidecar.revision = 2
        sidecar.markers = []
        try takes.add(sidecar)
        let found = try takes.catalog.find(.stem(sidecar.take))
        #expect(found.map(\.revision) == [2])
        #expect(found.map(\.memo) == ["at the pond"])
        #expect(try takes.catalog.counts() == Catalog.Counts(takes: 1, elsewhere: 0))
        var query = TakeQuery()
        query.marker = "wren"
        #expect(try takes.stems(query) == [])
    }

    @Test func `a take that is noted while a scan runs, and is read again by it, keeps its notes`() throws {
        let takes = try CatalogedTakes()
        let sidecar = TakesOnDisk.sidecar(1)
        let stem = try takes.add(sidecar)
        _ = try takes.catalog.note(stem) { $0.memo = "at the pond" }
        var stored = try StoredTake(TakesOnDisk.name(sidecar), in: TakesFolder(path: takes.disk.takes))
        // As the scan found it.
        stored.mayHaveNotes = false
        #expect(try takes.catalog.index([stored], on: takes.number, at: takes.disk.takes).isEmpty)
        #expect(try takes.catalog.find(.stem(stem)).map(\.memo) == ["at the pond"])
    }

    @Test func `takes of a storage that is out are elsewhere, and are here again once it is in`() throws {
        let takes = try CatalogedTakes()
        let stem = try takes.add(TakesOnDisk.sidecar(1))
        _ = try takes.catalog.setPresent([])
        #expect(try takes.catalog.find(.stem(stem)).map(\.place) == [.elsewhere])
        #expect(try takes.catalog.counts() == Catalog.Counts(takes: 1, elsewhere: 1))
        #expect(try takes.catalog.find(.last) == [])
        #expect(try takes.catalog.setPresent([takes.storage]) == [takes.storage: takes.number])
        #expect(try takes.catalog.find(.last).map(\.place) == [.here])
    }

    @Test func `a copy on another storage does not move a take that is here`() throws {
        let takes = try CatalogedTakes()
        let sidecar = TakesOnDisk.sidecar(1)
        let stem = try takes.add(sidecar)
        let other = "\(takes.disk.path)/other"
        mkdir(other, 0o755)
        let name = try takes.disk.add(sidecar, in: other)
        let copy = try StoredTake(name, in: TakesFolder(path: other))
        let storage = try #require(Storage(at: other))
        let both = try takes.catalog.setPresent([takes.storage, storage])
        let number = try #require(both[storage])
        _ = try takes.catalog.index([copy], on: number, at: other)
        #expect(try takes.catalog.find(.stem(stem)).map(\.folder) == ["\(takes.disk.takes)/2026-11-21"])
        // If its storage is removed, the copy replaces it.
        _ = try takes.catalog.setPresent([storage])
        _ = try takes.catalog.index([copy], on: number, at: other)
        #expect(try takes.catalog.find(.stem(stem)).map(\.folder) == ["\(other)/2026-11-21"])
    }

    @Test func `a take whose sidecar is gone is removed, and what was noted of it is kept`() throws {
        let takes = try CatalogedTakes()
        let sidecar = TakesOnDisk.sidecar(1, markers: ["wren"])
        let stem = try takes.add(sidecar)
        _ = try takes.catalog.note(stem) { $0.tag(adding: ["bird"], removing: []) }
        try takes.catalog.remove([stem], of: "2026-11-21", on: takes.number)
        #expect(try takes.catalog.counts() == Catalog.Counts(takes: 0, elsewhere: 0))
        for query in [\TakeQuery.text, \.tag, \.marker] {
            var wanted = TakeQuery()
            wanted[keyPath: query] = query == \TakeQuery.tag ? "bird" : "wren"
            #expect(try takes.stems(wanted) == [])
        }
        try takes.add(sidecar)
        #expect(try takes.catalog.find(.stem(stem)).map(\.tags) == [["bird"]])
    }

    @Test func `a rebuilt catalog forgets nothing`() throws {
        let takes = try CatalogedTakes()
        let sidecar = TakesOnDisk.sidecar(1)
        let stem = try takes.add(sidecar)
        _ = try takes.catalog.note(stem) { notes in
            notes.memo = "near the mill"
            notes.starred = true
            notes.tag(adding: ["dawn", "birds"], removing: [])
        }
        let before = try takes.catalog.find(.stem(stem))
        let (catalog, problem) = try Catalog.open(in: takes.disk.library, isNew: true)
        #expect(problem == nil)
        #expect(try catalog.counts() == Catalog.Counts(takes: 0, elsewhere: 0))
        let number = try #require(try catalog.setPresent([takes.storage])[takes.storage])
        let name = TakesOnDisk.name(sidecar)
        let stored = try StoredTake(name, in: TakesFolder(path: takes.disk.takes))
        _ = try catalog.index([stored], on: number, at: takes.disk.takes)
        #expect(try catalog.find(.stem(stem)) == before)
        #expect(before.map(\.memo) == ["near the mill"])
    }

    @Test(arguments: [
        [UInt8]("no database at all, but long enough to be read as one".utf8), [UInt8](repeating: 7, count: 40_000),
    ])
    func `a file that is no database is set aside`(_ bytes: [UInt8]) throws {
        let disk = TakesOnDisk()
        let path = Catalog.databasePath(in: disk.library)
        try disk.write(bytes, to: path)
        let (catalog, problem) = try Catalog.open(in: disk.library)
        #expect(try #require(problem).hasPrefix("catalog: \(path): "))
        #expect(try #require(problem).hasSuffix(": kept as \(path).damaged, and built again"))
        #expect(try catalog.counts().takes == 0)
        #expect(try FileSystem().contents("\(path).damaged", limit: 1 << 20) == bytes)
    }

    @Test func `a database with damage in the middle is set aside when it is opened`() throws {
        let disk = TakesOnDisk()
        let path = Catalog.databasePath(in: disk.library)
        do {
            let catalog = try Catalog.open(in: disk.library).0
            let storage = try #require(Storage(at: disk.takes))
            let number = try #require(try catalog.setPresent([storage])[storage])
            for index in 1...200 {
                let name = try disk.add(TakesOnDisk.sidecar(index))
                let take = try StoredTake(name, in: TakesFolder(path: disk.takes))
                _ = try catalog.index([take], on: number, at: disk.takes)
            }
            try catalog.close()
        }
        var bytes = try FileSystem().contents(path, limit: 1 << 26)
        #expect(bytes.count > 100_000)
        for place in stride(from: 8192, to: bytes.count - 512, by: 4096) {
            for offset in 0..<256 { bytes[place + offset] = 0xa5 }
        }
        try disk.write(bytes, to: path)
        let (catalog, problem) = try Catalog.open(in: disk.library)
        #expect(problem != nil)
        #expect(try catalog.counts().takes == 0)
    }
}
