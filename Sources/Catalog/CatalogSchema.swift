import GRDB

/// The tables of the catalog, one migration after the other. A migration that was shipped is never changed.
enum CatalogSchema {
    static var migrator: DatabaseMigrator {
        var migrator = DatabaseMigrator()
        migrator.registerMigration("1 takes", migrate: takes)
        migrator.registerMigration("2 outbox", migrate: outbox)
        migrator.registerMigration("3 kits", migrate: kits)
        migrator.registerMigration("4 pending", migrate: pending)
        migrator.registerMigration("5 notes", migrate: notes)
        migrator.registerMigration("6 sound", migrate: sound)
        migrator.registerMigration("7 whole files", migrate: wholeFiles)
        return migrator
    }

    private static func notes(_ database: Database) throws {
        try database.alter(table: "take") { $0.add(column: "notesSeenNs", .integer).notNull().defaults(to: 0) }
    }

    /// Has takes be looked at again that an earlier version cataloged, before this one or after it: it takes one for complete at home whose
    /// notes are not there.
    static func distrustOthers(_ database: Database) throws {
        try database.execute(sql: "UPDATE take SET notesModifiedNs = -1 WHERE notesModifiedNs <> notesSeenNs")
    }

    /// The kit of a take, as `entry` has it.
    static let kit = "json_extract(entry, '$.kit')"

    private static func kits(_ database: Database) throws {
        try database.execute(sql: "CREATE INDEX takeByKit ON take (\(kit))")
    }

    /// That a take waits for its conversion: it has no row in `upload` then.
    static let isPending = "json_extract(entry, '$.pending_format') IS NOT NULL"

    private static func pending(_ database: Database) throws {
        try database.execute(sql: "CREATE INDEX takeByPending ON take (id) WHERE \(isPending)")
    }

    /// How the sound of a take stands, as `entry` has it; NULL: it was not compared yet.
    static let sound = "json_extract(entry, '$.sound')"

    private static func sound(_ database: Database) throws {
        try database.execute(sql: "CREATE INDEX takeBySound ON take (\(sound), id)")
    }

    /// Has all takes compared again: earlier versions did not note which bytes they found good.
    private static func wholeFiles(_ database: Database) throws {
        try database.execute(
            sql: """
                UPDATE take SET entry = json_remove(entry, '$.sound') WHERE \(sound) IN ('as-recorded', 'later', 'accepted')
                """)
    }

    /// Which take stands where with which store.
    private static func outbox(_ database: Database) throws {
        try database.create(table: "upload", options: .withoutRowID) { table in
            table.column("store", .text).notNull()
            table.column("id", .integer).notNull().references("take", onDelete: .cascade)
            // "waiting", "held", "done", or "never" as a person decided.
            table.column("state", .text).notNull()
            // Why it is held, and until when; NULL: until a person says so.
            table.column("why", .text)
            table.column("untilUs", .integer)
            // Of the sidecar.
            table.column("revision", .integer).notNull()
            table.column("attempts", .integer).notNull()
            // What takes are sent in the order of.
            table.column("isStarred", .boolean).notNull()
            table.column("startedUs", .integer).notNull()
            table.primaryKey(["store", "id"])
        }
        try database.execute(
            sql: "CREATE INDEX uploadByOrder ON upload (store, state, isStarred DESC, startedUs, id)")
        try database.create(indexOn: "upload", columns: ["id"])
    }

    /// Takes, the storages that they are on, and their text.
    private static func takes(_ database: Database) throws {
        try database.create(table: "storage") { table in
            table.primaryKey("id", .integer)
            // What outlives a remount: the file system's own mark.
            table.column("mark", .text).notNull().unique()
            table.column("path", .text).notNull()
            table.column("isHere", .boolean).notNull()
        }
        try database.create(table: "take") { table in
            table.primaryKey("id", .integer)
            table.column("take", .text).notNull().unique()
            table.column("storage", .integer).notNull().references("storage")
            table.column("day", .text).notNull()
            // The sidecar's file, as it was when it was read.
            table.column("sidecarByteCount", .integer).notNull()
            table.column("sidecarModifiedNs", .integer).notNull()
            table.column("sidecarInode", .integer).notNull()
            // When the library's own file of it changed; 0: it had none.
            table.column("notesModifiedNs", .integer).notNull()
            // What takes are sorted and chosen by.
            table.column("startedUs", .integer).notNull()
            table.column("durationUs", .integer).notNull()
            table.column("number", .integer).notNull()
            table.column("byteCount", .integer).notNull()
            table.column("markerCount", .integer).notNull()
            table.column("isStarred", .boolean).notNull()
            // What a list shows, as JSON.
            table.column("entry", .text).notNull()
        }
        // Each has all that a list may be chosen by, so that choosing reads no table.
        for order in ["startedUs", "durationUs", "number", "byteCount"] {
            let others = ["startedUs", "durationUs", "markerCount", "isStarred", "storage"].filter { $0 != order }
            try database.create(index: "takeBy\(order)", on: "take", columns: [order, "id"] + others)
        }
        try database.create(index: "takeByPlace", on: "take", columns: ["storage", "day"])
        try database.create(table: "sidecar") { table in
            table.primaryKey("id", .integer).references("take", onDelete: .cascade)
            table.column("json", .text).notNull()
        }
        try database.create(table: "tag", options: .withoutRowID) { table in
            table.column("tag", .text).notNull()
            table.column("id", .integer).notNull().references("take", onDelete: .cascade)
            table.primaryKey(["tag", "id"])
        }
        try database.create(indexOn: "tag", columns: ["id"])
        try database.create(virtualTable: "takeText", using: FTS5()) { table in
            table.tokenizer = .unicode61(diacritics: .remove)
            table.column("memo")
            table.column("tags")
            table.column("markers")
        }
    }
}
