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
        migrator.registerMigration("8 origins", migrate: origins)
        return migrator
    }

    private static func notes(_ database: Database) throws {
        try database.alter(table: "take") { $0.add(column: "notesSeenNs", .integer).notNull().defaults(to: 0) }
    }

    /// Has takes be looked at again that an earlier version cataloged, before this one or after it: it takes one for complete at home whose
    /// notes are not there, and does not write the kit's id.
    static func distrustOthers(_ database: Database) throws {
        try database.execute(sql: "UPDATE take SET notesModifiedNs = -1 WHERE notesModifiedNs <> notesSeenNs")
        guard try Bool.fetchOne(database, sql: "SELECT EXISTS (SELECT 1 FROM take WHERE \(hasNoKitKey))") == true else {
            return
        }
        // It takes all takes of a stem for one: a row may have become that of a take which has one already.
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

    /// That an earlier version wrote the row: this one writes the key, be it null.
    private static let hasNoKitKey = "json_type(entry, '$.kit_id') IS NULL"

    /// `entry` with the id of the kit, as the sidecar has it. Earlier versions kept sidecars whose text is no JSON to SQLite, as with a byte
    /// order mark.
    private static let entryWithKit = """
        json_set(entry, '$.kit_id', (
            SELECT iif(length(found) = 32 AND found NOT GLOB '*[^0-9a-f]*', found, NULL)
            FROM (
                SELECT iif(json_valid(json), json_extract(json, '$.kit_id'), NULL) AS found
                FROM sidecar WHERE sidecar.id = take.id)))
        """

    /// Lets takes of several kits have one stem. SQLite drops the constraint of a column with its table alone. `origin` is computed, since
    /// earlier versions write rows without it. `index` sees to it that no two rows have the same stem and origin; a constraint would keep
    /// earlier versions from cataloging anything beside such a take. Kits that were cloned have one origin for two takes, and two stems.
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
        // Each has all that a list may be chosen by, so that choosing reads no table.
        for order in ["startedUs", "durationUs", "number", "byteCount"] {
            let others = ["startedUs", "durationUs", "markerCount", "isStarred", "storage"].filter { $0 != order }
            try database.create(index: "takeBy\(order)", on: "take", columns: [order, "id"] + others)
        }
        try database.create(index: "takeByPlace", on: "take", columns: ["storage", "day"])
    }
}
