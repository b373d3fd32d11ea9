import GRDB
import TakeFiles
public import Takes

extension Catalog {
    /// Takes whose sound was not compared with their sidecars yet, on storages that are present, the newest first.
    /// Takes that wait for their conversion are omitted, because their files will be replaced soon.
    public func uncomparedTakes(limit: Int) throws -> [LocatedTake] {
        try read { database in
            try Row.fetchAll(
                database,
                sql: """
                    SELECT \(LocatedTake.columns) FROM take JOIN storage ON storage.id = take.storage
                    WHERE \(CatalogSchema.sound) IS NULL AND storage.isHere AND NOT (\(CatalogSchema.isPending))
                    ORDER BY take.id DESC LIMIT ?
                    """, arguments: [limit]
            ).compactMap { LocatedTake($0) }
        }
    }

    /// The next of `uncomparedTakes` in one pass over all of them: takes that were cataloged during the pass come
    /// first, then the newest.
    /// - Parameter passed: the range of row ids that the pass has covered, or nil at the start. It grows with each
    ///   call.
    public func nextUncompared(_ passed: inout ClosedRange<Int64>?) throws -> LocatedTake? {
        let (found, range) = try read { database -> (LocatedTake?, ClosedRange<Int64>?) in
            func next(_ condition: String, _ id: Int64?) throws -> Row? {
                try Row.fetchOne(
                    database,
                    sql: """
                        SELECT take.id, \(LocatedTake.columns) FROM take JOIN storage ON storage.id = take.storage
                        WHERE \(CatalogSchema.sound) IS NULL AND storage.isHere AND NOT (\(CatalogSchema.isPending))
                            AND \(condition) LIMIT 1
                        """, arguments: [id])
            }
            var range = passed
            func next() throws -> Row? {
                guard let range else { return try next("?1 IS NULL ORDER BY take.id DESC", nil) }
                return try next("take.id > ? ORDER BY take.id", range.upperBound)
                    ?? next("take.id < ? ORDER BY take.id DESC", range.lowerBound)
            }
            while let row = try next() {
                let id: Int64 = row["id"]
                range = min(range?.lowerBound ?? id, id)...max(range?.upperBound ?? id, id)
                if let found = LocatedTake(row) { return (found, range) }
            }
            return (nil, range)
        }
        passed = range
        return found
    }

    /// Takes that were compared and are not damaged, on storages that are present, in an endless rotation.
    /// - Parameter last: the row id of the last take of the previous call. With nil, the rotation starts at a random
    ///   take.
    /// - Returns: each take at most once.
    public func comparedTakes(after last: inout Int64?, limit: Int) throws -> [LocatedTake] {
        let rows = try read { [last] database -> [(id: Int64, take: LocatedTake?)] in
            func some(_ condition: String, _ id: Int64, _ limit: Int) throws -> [(id: Int64, take: LocatedTake?)] {
                try Row.fetchAll(
                    database,
                    sql: """
                        SELECT take.id, \(LocatedTake.columns) FROM take JOIN storage ON storage.id = take.storage
                        WHERE \(condition) AND \(CatalogSchema.sound) IS NOT NULL AND \(CatalogSchema.sound) <> 'damaged'
                            AND storage.isHere AND NOT (\(CatalogSchema.isPending))
                        ORDER BY take.id LIMIT ?
                        """, arguments: [id, limit]
                ).map { ($0["id"], LocatedTake($0)) }
            }
            let highest = try Int64.fetchOne(database, sql: "SELECT max(id) FROM take") ?? 0
            let start = last ?? Int64.random(in: 0...max(0, highest))
            let behind = try some("take.id > ?", start, limit)
            guard behind.count < limit else { return behind }
            return try behind + some("take.id <= ?", start, limit - behind.count)
        }
        last = rows.last?.id ?? last
        return rows.compactMap(\.take)
    }

    /// Whether the row of a take has the result of a comparison, or nil if the take has no row.
    public func saysSound(of take: TakeIdentity) throws -> Bool? {
        try read { database in try Self.row(of: take, database).map { $0.entry.sound != nil } }
    }

    /// Damaged takes on storages that are present, sorted by number.
    public func damagedTakes() throws -> [(take: LocatedTake, why: String)] {
        try read { database in
            try Row.fetchAll(
                database,
                sql: """
                    SELECT \(LocatedTake.columns), json_extract(entry, '$.damaged') AS why
                    FROM take JOIN storage ON storage.id = take.storage
                    WHERE \(CatalogSchema.sound) = 'damaged' AND storage.isHere ORDER BY take.number, take.id
                    """
            ).compactMap { row in LocatedTake(row).map { ($0, row["why"] ?? "") } }
        }
    }

    /// Sets the state of the take's sound in a row.
    static func setSound(of row: inout TakeRow, _ noted: TakeNotes, _ database: Database) throws {
        let json = try String.fetchOne(
            database, sql: "SELECT json FROM sidecar WHERE id = ?", arguments: [row.id])
        guard let json else { return }
        let sidecar = try SidecarFile.sidecar(Array(json.utf8), path: row.take)
        row.entry.sound = noted.soundStanding(of: sidecar)
        row.entry.damaged = noted.damage(of: sidecar)
    }
}
