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
        migrator.registerMigration("9 levels", migrate: levels)
        return migrator
    }

    private static func notes(_ database: Database) throws {
        try database.alter(table: "take") { $0.add(column: "notesSeenNs", .integer).notNull().defaults(to: 0) }
    }

    /// Marks the takes that an earlier version cataloged, before or after this version, so that they are read again. An
    /// earlier version treats a take without its notes as complete at home, and does not write the kit's id, the title and
    /// the levels.
    static func distrustOthers(_ database: Database) throws {
        try database.execute(sql: "UPDATE take SET notesModifiedNs = -1 WHERE notesModifiedNs <> notesSeenNs")
        if try hasRow(hasNoKitKey, database) { try addKits(database) }
        if try hasRow(hasNoSpanKey, database) {
            try database.execute(sql: "UPDATE take SET notesModifiedNs = -1 WHERE \(hasNoSpanKey)")
            try addLevels(database)
        }
    }

    private static func hasRow(_ condition: String, _ database: Database) throws -> Bool {
        try Bool.fetchOne(database, sql: "SELECT EXISTS (SELECT 1 FROM take WHERE \(condition))") == true
    }

    private static func addKits(_ database: Database) throws {
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

    /// Whether an earlier version wrote the row. This version always writes the key.
    private static let hasNoSpanKey = "json_type(entry, '$.span_seconds') IS NULL"

    /// Adds the peak of each take, by which lists are sorted and selected, and the levels and the span of its entry.
    /// Earlier versions write rows without these columns and keys.
    private static func levels(_ database: Database) throws {
        try database.alter(table: "take") { table in
            table.add(column: "loudness", .integer).notNull().defaults(to: Loudness.unknown)
            table.add(column: "quietness", .integer).notNull().defaults(to: -Loudness.unknown)
        }
        try database.execute(sql: "CREATE INDEX takeWithoutSpanKey ON take (id) WHERE \(hasNoSpanKey)")
        try addLevels(database)
        for order in lists { try database.drop(index: indexName(by: order)) }
        for order in lists + ["loudness", "quietness"] { try indexTakes(by: order, database) }
    }

    /// Computes the columns and keys of all rows without `span_seconds`. Each sidecar is read once, because all of them
    /// may be much longer than the memory.
    private static func addLevels(_ database: Database) throws {
        // Some sidecars are not JSON to SQLite, see `entryWithKit`.
        func each(_ key: String) -> String {
            """
            FROM sidecar, json_each(iif(json_valid(sidecar.json), sidecar.json, '{}'), '$.\(key)') AS item
                WHERE sidecar.id = take.id AND item.type = 'object'
            """
        }
        func value(_ key: String) -> String { "json_extract(item.value, '$.\(key)')" }
        // A key with NULL is left out (RFC 7396).
        try database.execute(
            sql: """
                UPDATE take SET (loudness, quietness, entry) = (
                    SELECT coalesce(loudness, \(Loudness.unknown)), coalesce(loudness, \(-Loudness.unknown)),
                        json_patch(take.entry, json_object(
                            'peak_dbfs', peak, 'rms_dbfs', rms, 'span_seconds', coalesce(span, take.durationUs / 1e6)))
                    FROM (
                        SELECT peak, rms, span, iif(channels = 0, NULL, coalesce(
                            CAST(round(max(-1000, min(peak, 1000)) * 1000) AS INTEGER), \(Loudness.silence)
                        )) AS loudness
                        FROM (
                            SELECT count(*) AS channels, max(\(value("peak_dbfs"))) AS peak,
                                max(\(value("rms_dbfs"))) AS rms, (
                                    SELECT max(\(value("first_frame")) * 1.0 / json_extract(sidecar.json, '$.rate_hz')
                                        + \(value("frames")) * 1.0 / \(value("rate_hz")))
                                    \(each("parts"))) AS span
                            \(each("levels")))))
                    WHERE \(hasNoSpanKey)
                """)
    }

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

    private static let lists = ["startedUs", "durationUs", "number", "byteCount"]

    private static func indexTakes(_ database: Database) throws {
        for order in lists { try indexTakes(by: order, covering: filters, database) }
        try database.create(index: "takeByPlace", on: "take", columns: ["storage", "day"])
    }

    private static let filters = ["startedUs", "durationUs", "markerCount", "isStarred", "storage"]

    /// The index covers all columns by which a list may be filtered, so that filtering does not read the table.
    private static func indexTakes(by order: String, covering filters: [String], _ database: Database) throws {
        try database.create(
            index: indexName(by: order), on: "take", columns: [order, "id"] + filters.filter { $0 != order })
    }

    /// Makes the index for one order of lists.
    static func indexTakes(by order: String, _ database: Database) throws {
        try indexTakes(by: order, covering: filters + ["loudness"], database)
    }

    static func indexName(by order: String) -> String { "takeBy\(order)" }

    /// The orders of lists that differ from the order of days.
    static let scatteredOrders = ["durationUs", "byteCount", "loudness", "quietness"]
}
