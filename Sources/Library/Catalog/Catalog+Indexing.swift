public import Files
import GRDB
public import Takes

extension Catalog {
    /// The attributes of a cataloged take's files.
    public struct Known: Sendable {
        public let identity: TakeIdentity
        let sidecar: FileAttributes
        let notesModifiedNs: Int64

        /// Whether the files have not changed since the take was cataloged.
        public func isOf(_ attributes: FileAttributes, notesModifiedNs: Int64) -> Bool {
            // Compare field by field, because the catalog does not store ctimes.
            (sidecar.byteCount, sidecar.modifiedNs, sidecar.inode)
                == (attributes.byteCount, attributes.modifiedNs, attributes.inode)
                && self.notesModifiedNs == notesModifiedNs
        }
    }

    /// Records which storages are present. Takes on all other storages are "elsewhere".
    /// - Returns: the number of each storage in the catalog.
    public func setPresent(_ storages: [Storage]) throws -> [Storage: Int64] {
        let numbers = try write { database in
            try database.execute(sql: "UPDATE storage SET isHere = 0 WHERE isHere")
            var numbers: [Storage: Int64] = [:]
            for storage in storages {
                try database.execute(
                    sql: """
                        INSERT INTO storage (mark, path, isHere) VALUES (?, ?, 1)
                        ON CONFLICT (mark) DO UPDATE SET path = excluded.path, isHere = 1
                        """, arguments: [storage.mark, storage.path])
                numbers[storage] = try Int64.fetchOne(
                    database, sql: "SELECT id FROM storage WHERE mark = ?", arguments: [storage.mark])
            }
            return numbers
        }
        changes.post([.many])
        return numbers
    }

    /// The storages that are present, as recorded by the last `setPresent`.
    public func storages() throws -> [Storage] {
        try read { database in
            try Row.fetchAll(database, sql: "SELECT path, mark FROM storage WHERE isHere ORDER BY id").map { row in
                Storage(path: row["path"], mark: row["mark"])
            }
        }
    }

    /// The days of a storage that have cataloged takes.
    public func days(of storage: Int64) throws -> Set<String> {
        try read { database in
            try String.fetchSet(
                database, sql: "SELECT DISTINCT day FROM take WHERE storage = ?", arguments: [storage])
        }
    }

    /// The cataloged takes of a day by stem.
    public func known(of storage: Int64, day: String) throws -> [String: Known] {
        try read { database in
            let rows = try Row.fetchCursor(
                database,
                sql: """
                    SELECT take, sidecarByteCount, sidecarModifiedNs, sidecarInode, notesModifiedNs, origin
                    FROM take WHERE storage = ? AND day = ?
                    """, arguments: [storage, day])
            var known: [String: Known] = [:]
            while let row = try rows.next() {
                known[row[0]] = Known(
                    identity: TakeIdentity(stem: row[0], origin: TakeOrigin(row[5])),
                    sidecar: FileAttributes(byteCount: row[1], modifiedNs: row[2], inode: row[3]),
                    notesModifiedNs: row[4])
            }
            return known
        }
    }

    /// Why a take or its notes are not in the catalog.
    public struct IndexFailure: Error, CustomStringConvertible {
        public var take: String
        public var error: any Error

        public var description: String {
            guard let error = error as? CatalogError else { return "\(error)" }
            return "\(take): cannot be cataloged: \(error.fact): check its sidecar"
        }
    }

    /// Catalogs new and changed takes of a storage in one transaction.
    ///
    /// If the take is also cataloged on another storage that is present, that row is kept.
    /// - Returns: the takes that could not be cataloged, or only without their notes, with the reason.
    /// - Throws: errors of the database that do not concern a single take.
    public func index(_ takes: [StoredTake], on storage: Int64, at path: String) throws -> [IndexFailure] {
        let outcome: Outcome
        do {
            outcome = try write { database in
                var outcome = Outcome()
                for take in takes { try index(take, on: storage, at: path, &outcome, database) }
                return outcome
            }
        } catch  where Self.isOfOneTake(error) {
            // Again, with a savepoint for each take. Savepoints cost more than the takes themselves.
            outcome = try write { database in
                var outcome = Outcome()
                for take in takes {
                    do {
                        var added = outcome
                        try naming("write") {
                            try database.inSavepoint {
                                try index(take, on: storage, at: path, &added, database)
                                return .commit
                            }
                        }
                        outcome = added
                    } catch  where Self.isOfOneTake(error) {
                        outcome.failures.append(IndexFailure(take: take.name.stem, error: error))
                    }
                }
                return outcome
            }
        }
        changes.post(outcome.changes)
        return outcome.failures
    }

    private struct Outcome {
        var failures: [IndexFailure] = []
        var changes: [CatalogChange] = []
    }

    /// Whether an error concerns the values of one take, not the database or its disk.
    private static func isOfOneTake(_ error: any Error) -> Bool {
        guard let error = error as? CatalogError else { return true }
        guard case .database(let number, _) = error.cause else { return false }
        let code = ResultCode(rawValue: number)
        return switch code {
        case .SQLITE_CONSTRAINT: code != .SQLITE_CONSTRAINT_TRIGGER
        // SQLite reports text that is not valid JSON as one of these.
        case .SQLITE_ERROR, .SQLITE_MISMATCH, .SQLITE_TOOBIG, .SQLITE_RANGE: true
        default: false
        }
    }

    /// Catalogs a take, unless it is on another storage that is present.
    private func index(
        _ take: StoredTake, on storage: Int64, at path: String, _ outcome: inout Outcome, _ database: Database
    ) throws {
        let (stem, identity) = (take.name.stem, take.identity)
        let rows = try Self.rows(of: stem, database)
        // Somebody may have noted something since the take was cataloged.
        let (noted, modified, problem) = notesToIndex(of: identity, mayExist: take.mayHaveNotes || !rows.isEmpty)
        var row = TakeRow(take, notes: noted, notesModifiedNs: modified, storage: storage, place: path)
        let own = rows.first { $0.entry.identity == identity }
        // The sidecar may have lost the kit's id, or another take may have replaced this one.
        let there = rows.first { $0.storage == storage && $0.day == take.name.day }
        if let there, let own, own.id != there.id { try Self.delete(there, database) }
        if let own, own.storage != storage {
            let isHere = "SELECT isHere FROM storage WHERE id = ?"
            if try Bool.fetchOne(database, sql: isHere, arguments: [own.storage]) == true {
                if let there { outcome.changes.append(.removed(there.take)) }
                return
            }
        }
        if let old = own ?? there {
            row.id = old.id
            try row.update(database)
            try Self.removeText(of: old.id, database)
            outcome.changes.append(.revised(stem))
        } else {
            try row.add(to: database)
            outcome.changes.append(.added(stem))
        }
        try database.cachedStatement(sql: "INSERT OR REPLACE INTO sidecar (id, json) VALUES (?, ?)")
            .execute(arguments: [row.id, String(decoding: take.json, as: UTF8.self)])
        try Self.addText(noted, markers: noted.markers(of: take.sidecar.markers), of: row.id, database)
        try queue(row, noted, database)
        if let problem { outcome.failures.append(IndexFailure(take: stem, error: problem)) }
    }

    /// The notes of a take that is being cataloged, the modification time of their file, and why they cannot be read
    /// completely, or nil if they can.
    private func notesToIndex(
        of take: TakeIdentity, mayExist: Bool
    ) -> (notes: TakeNotes, modifiedNs: Int64, problem: (any Error)?) {
        guard mayExist else { return (TakeNotes(take: take.stem), 0, nil) }
        // Get the timestamp before reading: a file that changes in between is then read again.
        let modified = notes.modified(take)
        let noted: TakeNotes
        let problem: (any Error)?
        do {
            (noted, problem) = try readableNotes(of: take)
        } catch {
            (noted, problem) = (TakeNotes(take: take.stem), error)
        }
        // With -1, each scan reads and reports the notes again until they are repaired.
        return (noted, problem == nil ? modified : -1, problem)
    }

    /// Removes takes of a day whose sidecars no longer exist on a storage. The library's own files of these takes are
    /// kept.
    public func remove(_ takes: [String], of day: String, on storage: Int64) throws {
        var changed: [CatalogChange] = []
        try write { database in
            for take in takes {
                let rows = try Self.rows(of: take, database)
                guard let row = rows.first(where: { $0.storage == storage && $0.day == day }) else { continue }
                try Self.delete(row, database)
                changed.append(.removed(take))
            }
        }
        changes.post(changed)
    }

    private static func delete(_ row: TakeRow, _ database: Database) throws {
        try removeText(of: row.id, database)
        try row.delete(database)
    }

    /// All takes with this stem. Takes of several kits can have the same one.
    static func rows(of stem: String, _ database: Database) throws -> [TakeRow] {
        try TakeRow.fetchAll(
            database.cachedStatement(sql: "SELECT * FROM take WHERE take = ? ORDER BY id"), arguments: [stem])
    }

    static func row(of take: TakeIdentity, _ database: Database) throws -> TakeRow? {
        try TakeRow.fetchOne(
            database, sql: "SELECT * FROM take WHERE take = ? AND origin = ?",
            arguments: [take.stem, take.origin.description])
    }

    /// All takes with this stem. If none is cataloged, one that is identified by the stem only.
    public func identities(of stem: String) throws -> [TakeIdentity] {
        let found = try read { database in try Self.rows(of: stem, database).map(\.entry.identity) }
        return found.isEmpty ? [TakeIdentity(stem: stem)] : found
    }

    /// The stems of all takes with this kit name and number.
    public func stems(of kit: String, number: Int) throws -> [String] {
        try read { database in
            try String.fetchAll(
                database, sql: "SELECT take FROM take WHERE number = ? AND \(CatalogSchema.kit) = ?",
                arguments: [number, kit])
        }
    }

    /// Removes the text and tags by which a take is found.
    static func removeText(of id: Int64?, _ database: Database) throws {
        try database.cachedStatement(sql: "DELETE FROM takeText WHERE rowid = ?").execute(arguments: [id])
        try database.cachedStatement(sql: "DELETE FROM tag WHERE id = ?").execute(arguments: [id])
    }

    /// Adds the text and tags by which a take is found.
    static func addText(
        _ notes: TakeNotes, markers: [Sidecar.Marker], of id: Int64?, _ database: Database
    ) throws {
        let markers = markers.flatMap(\.content.words).joined(separator: "\n")
        // Earlier versions know the table without a column for titles, so a title stands in front of the memo.
        let texts = [notes.title, notes.memo].compactMap(\.self)
        if !texts.isEmpty || !notes.tags.isEmpty || !markers.isEmpty {
            let memo = texts.isEmpty ? nil : texts.joined(separator: "\n")
            try database.cachedStatement(
                sql: "INSERT OR REPLACE INTO takeText (rowid, memo, tags, markers) VALUES (?, ?, ?, ?)"
            ).execute(arguments: [id, memo, notes.tags.joined(separator: "\n"), markers])
        }
        for tag in Set(notes.tags) {
            try database.cachedStatement(sql: "INSERT INTO tag (tag, id) VALUES (?, ?)").execute(arguments: [tag, id])
        }
    }
}
