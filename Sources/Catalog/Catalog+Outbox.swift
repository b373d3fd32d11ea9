import GRDB
public import Takes

/// A take that waits to be sent to a store.
public struct QueuedUpload: Hashable, Sendable {
    /// The take, with the folder of its day.
    public var take: TakeName
    /// The kit and the number, or the stem.
    public var origin: TakeOrigin
    /// The folder for takes that it is in.
    public var folder: String
    /// How often it failed by itself.
    public var attempts: Int

    /// Which take it is.
    public var identity: TakeIdentity { TakeIdentity(stem: take.stem, origin: origin) }

    /// The columns that `init(row:)` reads, of the tables `take` and `storage`.
    static let columns = "take.take, take.day, take.origin, storage.path"

    /// - Returns: nil if the row has no name of a take.
    init?(_ row: Row, attempts: Int = 0) {
        guard let name = TakeName(stem: row["take"], day: row["day"]) else { return nil }
        (take, origin, folder) = (name, TakeOrigin(row["origin"]), row["path"])
        self.attempts = attempts
    }
}

/// What a list of the outbox shows of a take.
public struct OutboxEntry: Hashable, Sendable {
    /// The take.
    public var take: String
    /// The store.
    public var store: String
    /// Where it stands.
    public var state: UploadStanding
    /// Why it is held.
    public var why: String?
    /// When it is attempted again.
    public var until: WallTime?
    /// Of all of its files.
    public var byteCount: Int64
}

/// How many takes stand where in the outbox of a store.
public struct OutboxCounts: Hashable, Sendable {
    /// To be sent, on storages that are in.
    public var waiting = 0
    /// On storages that are out.
    public var elsewhere = 0
    /// Bytes of all files of those that wait.
    public var waitingBytes: Int64 = 0
    /// Held, for a time or for a person.
    public var held = 0
    /// There.
    public var done = 0
    /// The number of takes that are there and could not be verified.
    public var unverified = 0
    /// Why one of them could not be.
    public var whyUnverified: String?

    /// No take.
    public init() {}
}

extension Catalog {
    /// The longest that a take is held by itself: a time that lies further ahead is one of a clock that was set back.
    static let longestHold = Duration.seconds(12 * 3600)

    /// Queues all takes that a store has no entry of: one that was named in the settings a moment ago.
    public func queueForNewStores() throws {
        try database.write { database in
            for store in stores {
                try database.execute(
                    sql: """
                        INSERT INTO upload (store, id, state, revision, attempts, isStarred, startedUs, why)
                        SELECT ?, id, iif(\(CatalogSchema.sound) IS 'damaged', 'held', 'waiting'), 0, 0, isStarred, startedUs,
                            'damaged: ' || json_extract(entry, '$.damaged') || ': see ''fieldfare takes --damaged'''
                        FROM take
                        WHERE json_extract(entry, '$.pending_format') IS NULL
                            AND NOT EXISTS (SELECT 1 FROM upload WHERE store = ? AND upload.id = take.id)
                        """, arguments: [store, store])
            }
        }
    }

    /// Which takes are to be sent next: the starred ones first, then the oldest.
    /// - Parameters:
    ///   - others: takes that are being sent.
    ///   - place: a folder whose takes are not to be sent: the store itself is in there; nil: none.
    public func nextUploads(
        to store: String, limit: Int, without others: Set<TakeIdentity>, outside place: String? = nil
    ) throws -> [QueuedUpload] {
        try database.read { database in
            var found: [QueuedUpload] = []
            let rows = try Row.fetchCursor(
                database,
                sql: """
                    SELECT \(QueuedUpload.columns), upload.attempts FROM upload
                    JOIN take USING (id) JOIN storage ON storage.id = take.storage
                    WHERE upload.store = ?1 AND upload.state = 'waiting' AND storage.isHere
                        \(place == nil ? "" : "AND substr(storage.path, 1, length(?2)) <> ?2")
                    ORDER BY upload.isStarred DESC, upload.startedUs, upload.id
                    """, arguments: StatementArguments([store, place].compactMap { $0 }))
            while found.count < limit, let row = try rows.next() {
                guard let upload = QueuedUpload(row, attempts: row["attempts"]), !others.contains(upload.identity)
                else {
                    continue
                }
                found.append(upload)
            }
            return found
        }
    }

    /// Lets takes wait again whose time has come.
    /// - Returns: when the next one's comes; nil: no take is held for a time.
    public func releaseHeld(of store: String, now: WallTime) throws -> WallTime? {
        let (next, isChanged) = try database.write { database in
            let latest = now + Self.longestHold
            try database.execute(
                sql: """
                    UPDATE upload INDEXED BY uploadByOrder SET state = 'waiting', why = NULL, untilUs = NULL
                    WHERE store = ? AND state = 'held' AND (untilUs <= ? OR untilUs > ?)
                    """, arguments: [store, now.microseconds, latest.microseconds])
            let isChanged = database.changesCount > 0
            let next = try Int64.fetchOne(
                database,
                sql: "SELECT min(untilUs) FROM upload INDEXED BY uploadByOrder WHERE store = ? AND state = 'held'",
                arguments: [store])
            return (next.map { WallTime(microseconds: $0) }, isChanged)
        }
        if isChanged { changes.post([.many]) }
        return next
    }

    /// Holds a take that failed by itself. A take that was deleted meanwhile is passed over.
    /// - Parameters:
    ///   - until: when it is attempted again; nil: not before a person says so.
    ///   - attempts: how often it failed.
    public func hold(_ take: TakeIdentity, for store: String, why: String, until: WallTime?, attempts: Int) throws {
        try database.write { database in
            guard let row = try Self.row(of: take, database), let id = row.id else { return }
            try database.execute(
                sql: """
                    UPDATE upload SET state = 'held', why = ?, untilUs = ?, attempts = ?, revision = ?
                    WHERE store = ? AND id = ?
                    """, arguments: [why, until?.microseconds, attempts, row.entry.revision, store, id])
        }
        changes.post([.revised(take.stem)])
    }

    /// Lets all held takes wait again, but for those that a person holds; and those that could not be verified.
    public func retryUploads() throws {
        try database.write { database in
            try database.execute(
                sql: """
                    UPDATE upload SET state = 'waiting', why = NULL, untilUs = NULL, attempts = 0
                    WHERE (state = 'held' AND why IS NOT ?) OR (state = 'done' AND why IS NOT NULL)
                    """, arguments: [UploadStanding.heldByHand])
        }
        changes.post([.many])
    }

    /// How many takes stand where.
    public func outboxCounts(of store: String) throws -> OutboxCounts {
        try database.read { database in
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

    /// Takes that wait or are held, in the order in which they are sent.
    public func outbox(limit: Int) throws -> [OutboxEntry] {
        try database.read { database in
            var entries: [OutboxEntry] = []
            for store in stores {
                for state in [UploadStanding.held, .waiting] {
                    let rows = try Row.fetchCursor(
                        database,
                        sql: """
                            SELECT take.take, take.byteCount, upload.why, upload.untilUs FROM upload JOIN take USING (id)
                            WHERE upload.store = ? AND upload.state = ?
                            ORDER BY upload.isStarred DESC, upload.startedUs, upload.id LIMIT ?
                            """, arguments: [store, state.rawValue, limit])
                    while let row = try rows.next() {
                        let until: Int64? = row["untilUs"]
                        entries.append(
                            OutboxEntry(
                                take: row["take"], store: store, state: state, why: row["why"],
                                until: until.map { WallTime(microseconds: $0) }, byteCount: row["byteCount"]))
                    }
                }
            }
            return entries
        }
    }

    /// The takes that every named store has, whole and verified: those that may be deleted from the kit, the oldest first, and those with
    /// a star last.
    /// - Returns: none if no store is named.
    public func sentTakes(limit: Int) throws -> [QueuedUpload] {
        guard !stores.isEmpty else { return [] }
        return try database.read { database in
            let everywhere = stores.map { _ in
                "EXISTS (SELECT 1 FROM upload WHERE store = ? AND upload.id = take.id AND state = 'done' AND why IS NULL)"
            }
            let rows = try Row.fetchAll(
                database,
                sql: """
                    SELECT \(QueuedUpload.columns) FROM take
                    JOIN storage ON storage.id = take.storage
                    WHERE storage.isHere AND \(CatalogSchema.sound) IS NOT 'damaged'
                        AND \(everywhere.joined(separator: " AND "))
                    ORDER BY take.isStarred, take.startedUs, take.id LIMIT \(limit)
                    """, arguments: StatementArguments(stores))
            return rows.compactMap { QueuedUpload($0) }
        }
    }

    // MARK: Within a transaction

    /// Queues a take for every store that does not have it as it is now.
    func queue(_ row: TakeRow, _ noted: TakeNotes, _ database: Database) throws {
        guard let id = row.id else { return }
        let noted = noted.receipts.isEmpty ? noted : try noted.of(Self.recordingStart(of: id, database))
        for store in stores {
            let isThere = noted.isSent(revision: row.entry.revision, in: store)
            let old = try Row.fetchOne(
                database, sql: "SELECT state, why, revision FROM upload WHERE store = ? AND id = ?",
                arguments: [store, id])
            if isThere {
                try setUpload(id, store, row, .done, why: noted[receiptOf: store]?.unverified?.why, database)
            } else if row.entry.pendingFormat != nil {
                try database.execute(sql: "DELETE FROM upload WHERE store = ? AND id = ?", arguments: [store, id])
            } else if noted.upload == .never {
                try setUpload(id, store, row, nil, why: nil, database)
            } else if noted.upload == .hold {
                try setUpload(id, store, row, .held, why: UploadStanding.heldByHand, database)
            } else if let damage = row.entry.damaged {
                try setUpload(id, store, row, .held, why: Self.why(damage), database)
            } else if let old, old["state"] == UploadStanding.held.rawValue, old["revision"] == row.entry.revision,
                old["why"] != UploadStanding.heldByHand, !Self.isOfDamage(old["why"])
            {
                // Nothing has changed that would make it succeed.
                try database.execute(
                    sql: "UPDATE upload SET isStarred = ? WHERE store = ? AND id = ?",
                    arguments: [row.isStarred, store, id])
            } else {
                try setUpload(id, store, row, .waiting, why: nil, database)
            }
        }
    }

    /// Which recording a take is.
    private static func recordingStart(of id: Int64, _ database: Database) throws -> RecordingStart {
        let row = try Row.fetchOne(
            database,
            sql:
                "SELECT json_extract(json, '$.boot_id'), json_extract(json, '$.started_monotonic_ns') FROM sidecar WHERE id = ?",
            arguments: [id])
        return RecordingStart(bootID: row?[0] ?? "", startedMonotonicNs: row?[1] ?? 0)
    }

    private func setUpload(
        _ id: Int64, _ store: String, _ row: TakeRow, _ state: UploadStanding?, why: String?, _ database: Database
    ) throws {
        try database.execute(
            sql: """
                INSERT INTO upload (store, id, state, why, revision, attempts, isStarred, startedUs) VALUES (?, ?, ?, ?, ?, 0, ?, ?)
                ON CONFLICT (store, id) DO UPDATE SET state = excluded.state, why = excluded.why, untilUs = NULL, attempts = 0,
                    revision = excluded.revision, isStarred = excluded.isStarred, startedUs = excluded.startedUs
                """,
            arguments: [store, id, state?.rawValue ?? "never", why, row.entry.revision, row.isStarred, row.startedUs])
    }
}
