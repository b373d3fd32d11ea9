import GRDB
public import Takes

/// One line in a list of the outbox.
public struct OutboxEntry: Hashable, Sendable {
    public var id: ParcelID
    public var store: String
    public var state: UploadStanding
    /// Why it is held.
    public var why: String?
    /// The time of the next attempt.
    public var until: WallTime?
    /// The sum of all its files.
    public var byteCount: Int64
}

/// The number of takes in each state in the outbox of a store.
public struct OutboxCounts: Hashable, Sendable {
    /// Takes to be sent, on storages that are present.
    public var waiting = 0
    /// Takes to be sent, on storages that are not present.
    public var elsewhere = 0
    /// The bytes of all files of the waiting takes.
    public var waitingBytes: Int64 = 0
    /// Takes held for a time or until a person acts.
    public var held = 0
    /// Takes that the store has.
    public var done = 0
    /// Takes that the store has, but that could not be verified.
    public var unverified = 0
    /// The reason for one of the unverified takes.
    public var whyUnverified: String?

    public init() {}
}

extension Catalog {
    /// The number of takes in one transaction: small enough not to delay other writers.
    private static let batch = 200

    /// Queues all takes that have no row for a store, because the store was just added to the settings. The notes of a
    /// take decide its state, as in a rebuilt catalog.
    /// - Parameter goesOn: called before each transaction. It stops if the result is false.
    public func queueForNewStores(while goesOn: () -> Bool = { true }) throws {
        try write { database in
            // If the store were named again later, its old rows would lack the decisions and receipts of the time in
            // between.
            let marks = stores.map { _ in "?" }.joined(separator: ", ")
            try database.execute(
                sql: "DELETE FROM upload WHERE store NOT IN (\(marks))", arguments: StatementArguments(stores))
        }
        var ids = try read { database in
            let missing = try stores.map { store in
                try Int64.fetchSet(
                    database,
                    sql: """
                        SELECT id FROM take WHERE NOT EXISTS (SELECT 1 FROM upload WHERE store = ? AND upload.id = take.id)
                        """, arguments: [store])
            }
            return missing.reduce(into: Set()) { $0.formUnion($1) }.sorted()[...]
        }
        while !ids.isEmpty, goesOn() {
            try write { database in
                for id in ids.prefix(Self.batch) {
                    guard let row = try TakeRow.fetchOne(database, key: id) else { continue }
                    // Notes that cannot be read are ignored here. The scan reports them.
                    let noted = row.notesModifiedNs == 0 ? nil : try? readableNotes(of: row.entry.identity).notes
                    try queue(row, noted ?? TakeNotes(take: row.take), database)
                }
            }
            ids = ids.dropFirst(Self.batch)
        }
    }

    /// The takes to send next: starred ones first, then the oldest.
    /// - Parameters:
    ///   - others: takes that are excluded, for example because they are being sent.
    ///   - place: a folder whose takes are excluded because the store is in it, or nil.
    public func nextUploads(
        to store: String, limit: Int, without others: Set<ParcelID>, outside place: String? = nil
    ) throws -> [Parcel] {
        try read { database in
            var found: [Parcel] = []
            let rows = try Row.fetchCursor(
                database,
                sql: """
                    SELECT \(LocatedTake.columns), upload.revision FROM upload
                    JOIN take USING (id) JOIN storage ON storage.id = take.storage
                    WHERE upload.store = ?1 AND upload.state = 'waiting' AND storage.isHere
                        \(place == nil ? "" : "AND substr(storage.path, 1, length(?2)) <> ?2")
                    ORDER BY upload.isStarred DESC, upload.startedUs, upload.id
                    """, arguments: StatementArguments([store, place].compactMap { $0 }))
            while found.count < limit, let row = try rows.next() {
                guard let take = LocatedTake(row) else { continue }
                let parcel = Parcel(content: .take(take), revision: row["revision"])
                if !others.contains(parcel.id) { found.append(parcel) }
            }
            return found
        }
    }

    /// Sets held takes whose time has come to waiting.
    /// - Returns: the time for the next one, or nil if no take is held for a time.
    public func releaseHeld(of store: String, now: WallTime) throws -> WallTime? {
        let (next, isChanged) = try write { database in
            let latest = now + ParcelStanding.longestHold
            let isChanged = try Self.pass(
                { $0.due(at: now) }, to: "upload INDEXED BY uploadByOrder",
                where: "store = ? AND state = 'held' AND (untilUs <= ? OR untilUs > ?)",
                [store, now.microseconds, latest.microseconds], database)
            let next = try Int64.fetchOne(
                database,
                sql: "SELECT min(untilUs) FROM upload INDEXED BY uploadByOrder WHERE store = ? AND state = 'held'",
                arguments: [store])
            return (next.map { WallTime(microseconds: $0) }, isChanged)
        }
        if isChanged { changes.post([.many]) }
        return next
    }

    /// Holds a parcel that failed for a reason of its own. Does nothing if the parcel was deleted, decided otherwise by
    /// a person, or replaced by its next revision in the meantime.
    /// - Parameter revision: the revision of the failed attempt.
    public func failed(
        _ parcel: ParcelID, of revision: Int, for store: String, why: String, _ retry: ParcelStanding.Retry,
        at now: WallTime
    ) throws {
        let isChanged = try write { database in
            guard let id = try Self.number(of: parcel, database) else { return false }
            return try Self.pass(
                { $0.failed(why, retry, of: revision, at: now) }, where: "store = ? AND id = ?", [store, id], database)
        }
        if isChanged { changes.post([.revised(parcel.stem)]) }
    }

    /// Sets all held takes to waiting, except those held by a person. Takes that could not be verified are sent again
    /// too.
    public func retryUploads() throws {
        try write { database in
            _ = try Self.pass(
                { $0.retried() }, where: "state = 'held' OR (state = 'done' AND why IS NOT NULL)", [], database)
        }
        changes.post([.many])
    }

    /// The number of takes in each state.
    public func outboxCounts(of store: String) throws -> OutboxCounts {
        try read { database in
            var counts = OutboxCounts()
            let rows = try Row.fetchCursor(
                database,
                sql: """
                    SELECT upload.state, storage.isHere, count(*) AS takes, sum(take.byteCount) AS bytes,
                        sum(upload.why IS NOT NULL) AS marked, min(upload.why) AS why FROM upload
                    JOIN take USING (id) JOIN storage ON storage.id = take.storage
                    WHERE upload.store = ? GROUP BY upload.state, storage.isHere
                    """, arguments: [store])
            while let row = try rows.next() {
                let takes: Int = row["takes"]
                switch (UploadStanding(rawValue: row["state"]), row["isHere"] as Bool) {
                case (.waiting, true):
                    counts.waiting += takes
                    counts.waitingBytes += row["bytes"] as Int64
                case (.waiting, false): counts.elsewhere += takes
                case (.held, _): counts.held += takes
                case (.done, _):
                    counts.done += takes
                    counts.unverified += row["marked"] as Int
                    counts.whyUnverified = counts.whyUnverified ?? row["why"]
                case (nil, _): break
                }
            }
            return counts
        }
    }

    /// Held takes, then waiting ones, for each store in the order of sending.
    public func outbox(limit: Int) throws -> [OutboxEntry] {
        try read { database in
            var entries: [OutboxEntry] = []
            for store in stores {
                for state in [UploadStanding.held, .waiting] {
                    let rows = try Row.fetchCursor(
                        database,
                        sql: """
                            SELECT take.take, take.origin, take.byteCount, upload.why, upload.untilUs FROM upload JOIN take USING (id)
                            WHERE upload.store = ? AND upload.state = ?
                            ORDER BY upload.isStarred DESC, upload.startedUs, upload.id LIMIT ?
                            """, arguments: [store, state.rawValue, limit])
                    while let row = try rows.next() {
                        let until: Int64? = row["untilUs"]
                        let take = TakeIdentity(stem: row["take"], origin: TakeOrigin(row["origin"]))
                        entries.append(
                            OutboxEntry(
                                id: .take(take), store: store, state: state, why: row["why"],
                                until: until.map { WallTime(microseconds: $0) }, byteCount: row["byteCount"]))
                    }
                }
            }
            return entries
        }
    }

    /// The takes that every named store has whole and verified, so that they may be deleted from the kit. The oldest
    /// come first, starred ones last.
    /// - Returns: an empty array if no store is named.
    public func sentTakes(limit: Int) throws -> [LocatedTake] {
        guard !stores.isEmpty else { return [] }
        return try read { database in
            let everywhere = stores.map { _ in
                "EXISTS (SELECT 1 FROM upload WHERE store = ? AND upload.id = take.id AND state = 'done' AND why IS NULL)"
            }
            let rows = try Row.fetchAll(
                database,
                sql: """
                    SELECT \(LocatedTake.columns) FROM take
                    JOIN storage ON storage.id = take.storage
                    WHERE storage.isHere AND \(CatalogSchema.sound) IS NOT 'damaged'
                        AND \(everywhere.joined(separator: " AND "))
                    ORDER BY take.isStarred, take.startedUs, take.id LIMIT \(limit)
                    """, arguments: StatementArguments(stores))
            return rows.compactMap { LocatedTake($0) }
        }
    }

    // MARK: Within a transaction

    /// Whether earlier failures of a take still hold it.
    public enum Failures: Sendable {
        /// They hold it unless something changed that could make it succeed.
        case kept
        /// The take is tried again.
        case forgotten
    }

    /// Queues a take for every store that does not have its present revision.
    func queue(_ row: TakeRow, _ noted: TakeNotes, failures: Failures = .kept, _ database: Database) throws {
        guard let id = row.id else { return }
        let noted = noted.receipts.isEmpty ? noted : try noted.of(Self.recordingStart(of: id, database))
        for store in stores {
            let facts = ParcelStanding.Facts(row.entry, noted, store)
            let old = try Row.fetchOne(
                database.cachedStatement(
                    sql: "SELECT \(ParcelStanding.columns) FROM upload WHERE store = ? AND id = ?"),
                arguments: [store, id])
            if let new = ParcelStanding(facts, after: failures == .kept ? old.flatMap { ParcelStanding($0) } : nil) {
                let insertion = try database.cachedStatement(
                    sql: """
                        INSERT INTO upload (state, why, untilUs, revision, attempts, store, id, isStarred, startedUs)
                        VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
                        ON CONFLICT (store, id) DO UPDATE SET state = excluded.state, why = excluded.why, untilUs = excluded.untilUs,
                            attempts = excluded.attempts, revision = excluded.revision, isStarred = excluded.isStarred,
                            startedUs = excluded.startedUs
                        """)
                try insertion.execute(arguments: new.values + [store, id, row.isStarred, row.startedUs])
            } else {
                try database.cachedStatement(sql: "DELETE FROM upload WHERE store = ? AND id = ?")
                    .execute(arguments: [store, id])
            }
        }
    }

    /// The take's row id, by which the rows of a parcel are found.
    private static func number(of parcel: ParcelID, _ database: Database) throws -> Int64? {
        switch parcel {
        case .take(let take): try row(of: take, database)?.id
        }
    }

    /// Applies an event to the rows that a condition selects, in batches.
    /// - Returns: whether a row has changed.
    private static func pass(
        _ event: (inout ParcelStanding) -> Void, to table: String = "upload", where condition: String,
        _ arguments: StatementArguments, _ database: Database
    ) throws -> Bool {
        var isChanged = false
        var rows: [Row] = []
        repeat {
            let last: StatementArguments = rows.last.map { [$0["store"] as String, $0["id"] as Int64] } ?? ["", 0]
            rows = try Row.fetchAll(
                database,
                sql: """
                    SELECT store, id, \(ParcelStanding.columns) FROM \(table)
                    WHERE (\(condition)) AND (store, id) > (?, ?) ORDER BY store, id LIMIT \(batch)
                    """, arguments: arguments + last)
            for row in rows {
                guard let old = ParcelStanding(row) else { continue }
                var new = old
                event(&new)
                guard new != old else { continue }
                isChanged = true
                try database.execute(
                    sql: """
                        UPDATE upload SET state = ?, why = ?, untilUs = ?, revision = ?, attempts = ? WHERE store = ? AND id = ?
                        """, arguments: new.values + [row["store"] as String, row["id"] as Int64])
            }
        } while rows.count == batch
        return isChanged
    }

    /// The identity of a take's recording.
    private static func recordingStart(of id: Int64, _ database: Database) throws -> RecordingStart {
        let columns = "json_extract(json, '$.boot_id'), json_extract(json, '$.started_monotonic_ns')"
        let row = try Row.fetchOne(
            database.cachedStatement(sql: "SELECT \(columns) FROM sidecar WHERE id = ?"), arguments: [id])
        return RecordingStart(bootID: row?[0] ?? "", startedMonotonicNs: row?[1] ?? 0)
    }
}

extension ParcelStanding.Facts {
    /// The facts about a take and a store.
    fileprivate init(_ entry: CatalogedTake, _ noted: TakeNotes, _ store: String) {
        self.init(
            revision: entry.revision,
            presence: noted.isSent(revision: entry.revision, in: store)
                ? .complete(unverified: noted[receiptOf: store]?.unverified?.why) : .missing,
            decision: noted.upload, damage: entry.damaged, isPending: entry.pendingFormat != nil)
    }
}
