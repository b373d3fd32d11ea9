import GRDB

/// The tables of the catalog as a series of migrations. A migration that was shipped is never changed.
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
        migrator.registerMigration("8 origins", migrate: origins)
        return migrator
    }

    private static func notes(_ database: Database) throws {
        try database.alter(table: "take") { $0.add(column: "notesSeenNs", .integer).notNull().defaults(to: 0) }
    }

    /// Marks the takes that an earlier version cataloged, before or after this version, so that they are read again. An
    /// earlier version treats a take without its notes as complete at home, and does not write the kit's id.
    static func distrustOthers(_ database: Database) throws {
        try database.execute(sql: "UPDATE take SET notesModifiedNs = -1 WHERE notesModifiedNs <> notesSeenNs")
        guard try Bool.fetchOne(database, sql: "SELECT EXISTS (SELECT 1 FROM take WHERE \(hasNoKitKey))") == true else {
            return
        }
        // An earlier version identifies a take by its stem only, so there may now be two rows for the same take.
        let doubles = """
            SELECT later.id FROM take AS later JOIN take AS first USING (take, origin) WHERE first.id < later.id
            """
        try database.execute(
            sql: """
                UPDATE take SET entry = \(entryWithKit), notesModifiedNs = -1 WHERE \(hasNoKitKey);
                DELETE FROM takeText WHERE rowid IN (\(doubles));
                DELETE FROM take WHERE id IN (\(doubles));
                """)
    }

    /// The text of the take's `TakeOrigin`.
    private static let origin = "coalesce(json_extract(entry, '$.kit_id') || ':' || number, take)"

    /// Whether an earlier version wrote the row. This version always writes the key, even as null.
    private static let hasNoKitKey = "json_type(entry, '$.kit_id') IS NULL"

    /// `entry` with the kit's id from the sidecar. Earlier versions stored sidecars whose text SQLite does not accept
    /// as JSON, for example with a byte order mark.
    private static let entryWithKit = """
        json_set(entry, '$.kit_id', (
            SELECT iif(length(found) = 32 AND found NOT GLOB '*[^0-9a-f]*', found, NULL)
            FROM (
                SELECT iif(json_valid(json), json_extract(json, '$.kit_id'), NULL) AS found
                FROM sidecar WHERE sidecar.id = take.id)))
        """

    /// Allows takes of several kits to have the same stem. SQLite cannot drop the constraint of a column, so the table
    /// is replaced.
    ///
    /// `origin` is a generated column, because earlier versions write rows without it. `index` ensures that no two rows
    /// have the same stem and origin: a constraint would keep an earlier version from cataloging anything else together
    /// with such a take. Cloned kits can have two takes with the same origin, but with different stems.
    private static func origins(_ database: Database) throws {
        let columns = """
            id, take, storage, day, sidecarByteCount, sidecarModifiedNs, sidecarInode, notesModifiedNs, notesSeenNs, startedUs, durationUs,
            number, byteCount, markerCount, isStarred, entry
            """
        try database.create(table: "newTake") { table in
            table.primaryKey("id", .integer)
            table.column("take", .text).notNull()
            table.column("storage", .integer).notNull().references("storage")
            table.column("day", .text).notNull()
            for column in ["sidecarByteCount", "sidecarModifiedNs", "sidecarInode", "notesModifiedNs"] {
                table.column(column, .integer).notNull()
            }
            for column in ["startedUs", "durationUs", "number", "byteCount", "markerCount"] {
                table.column(column, .integer).notNull()
            }
            table.column("isStarred", .boolean).notNull()
            table.column("entry", .text).notNull()
            table.column("notesSeenNs", .integer).notNull().defaults(to: 0)
            table.column("origin", .text).generatedAs(sql: origin, .virtual)
        }
        try database.execute(
            sql: """
                INSERT INTO newTake (\(columns)) SELECT \(columns) FROM take;
                DROP TABLE take;
                ALTER TABLE newTake RENAME TO take;
                UPDATE take SET entry = \(entryWithKit);
                CREATE INDEX takeByOrigin ON take (take, origin);
                CREATE INDEX takeWithoutKitKey ON take (id) WHERE \(hasNoKitKey);
                """)
        try indexTakes(database)
        try kits(database)
        try pending(database)
        try database.execute(sql: "CREATE INDEX takeBySound ON take (\(sound), id)")
    }

    /// The take's kit in `entry`.
    static let kit = "json_extract(entry, '$.kit')"

    private static func kits(_ database: Database) throws {
        try database.execute(sql: "CREATE INDEX takeByKit ON take (\(kit))")
    }

    /// Whether a take waits for its conversion. Such a take has no row in `upload`.
    static let isPending = "json_extract(entry, '$.pending_format') IS NOT NULL"

    private static func pending(_ database: Database) throws {
        try database.execute(sql: "CREATE INDEX takeByPending ON take (id) WHERE \(isPending)")
    }

    /// The state of the take's sound in `entry`, or NULL if it was not compared yet.
    static let sound = "json_extract(entry, '$.sound')"

    private static func sound(_ database: Database) throws {
        try database.execute(sql: "CREATE INDEX takeBySound ON take (\(sound), id)")
    }

    /// Makes all takes be compared again, because earlier versions did not record which bytes they had compared.
    private static func wholeFiles(_ database: Database) throws {
        try database.execute(
            sql: """
                UPDATE take SET entry = json_remove(entry, '$.sound') WHERE \(sound) IN ('as-recorded', 'later', 'accepted')
                """)
    }

    /// The state of each take with each store.
    private static func outbox(_ database: Database) throws {
        try database.create(table: "upload", options: .withoutRowID) { table in
            table.column("store", .text).notNull()
            table.column("id", .integer).notNull().references("take", onDelete: .cascade)
            // "waiting", "held", "done", or "never" by a person's decision.
            table.column("state", .text).notNull()
            // The reason and the end of a hold. NULL in `untilUs` means until a person acts.
            table.column("why", .text)
            table.column("untilUs", .integer)
            // The sidecar's revision.
            table.column("revision", .integer).notNull()
            table.column("attempts", .integer).notNull()
            // The order in which takes are sent.
            table.column("isStarred", .boolean).notNull()
            table.column("startedUs", .integer).notNull()
            table.primaryKey(["store", "id"])
        }
        try database.execute(
            sql: "CREATE INDEX uploadByOrder ON upload (store, state, isStarred DESC, startedUs, id)")
        try database.create(indexOn: "upload", columns: ["id"])
    }

    /// Takes, their storages, and their text.
    private static func takes(_ database: Database) throws {
        try database.create(table: "storage") { table in
            table.primaryKey("id", .integer)
            // The file system's own identifier, which is the same after each mount.
            table.column("mark", .text).notNull().unique()
            table.column("path", .text).notNull()
            table.column("isHere", .boolean).notNull()
        }
        try database.create(table: "take") { table in
            table.primaryKey("id", .integer)
            table.column("take", .text).notNull().unique()
            table.column("storage", .integer).notNull().references("storage")
            table.column("day", .text).notNull()
            // The attributes of the sidecar when it was read.
            table.column("sidecarByteCount", .integer).notNull()
            table.column("sidecarModifiedNs", .integer).notNull()
            table.column("sidecarInode", .integer).notNull()
            // The modification time of the library's own file, or 0 if there was none.
            table.column("notesModifiedNs", .integer).notNull()
            // The values by which takes are sorted and selected.
            table.column("startedUs", .integer).notNull()
            table.column("durationUs", .integer).notNull()
            table.column("number", .integer).notNull()
            table.column("byteCount", .integer).notNull()
            table.column("markerCount", .integer).notNull()
            table.column("isStarred", .boolean).notNull()
            // The data for a list, as JSON.
            table.column("entry", .text).notNull()
        }
        try indexTakes(database)
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

    private static func indexTakes(_ database: Database) throws {
        // Each index covers all columns by which a list may be filtered, so that filtering does not read the table.
        for order in ["startedUs", "durationUs", "number", "byteCount"] {
            let others = ["startedUs", "durationUs", "markerCount", "isStarred", "storage"].filter { $0 != order }
            try database.create(index: "takeBy\(order)", on: "take", columns: [order, "id"] + others)
        }
        try database.create(index: "takeByPlace", on: "take", columns: ["storage", "day"])
    }
}
