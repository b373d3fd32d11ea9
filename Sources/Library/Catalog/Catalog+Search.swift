import FoundationEssentials
import GRDB
public import Takes
public import Transport

/// One page of a list of takes.
public struct TakePage: Sendable {
    /// Each is the JSON of a `CatalogedTake`, in the requested order. It is sent to peers as the database stores it.
    public var entries: [String]
    /// The mark for requesting the next page, or nil for the last page.
    public var next: String?
    /// All takes that meet the conditions, or nil if the query did not ask for them.
    public var totals: Totals?

    public struct Totals: Hashable, Sendable {
        public var takes: Int
        /// The sum of their lengths.
        public var seconds: Double
    }

    /// The page for a reply: a JSON object with `takes`, `next`, and the totals as `total` and `total_seconds`.
    public var json: String {
        let next = next.map { "\"\($0)\"" } ?? "null"
        let totals = totals.map { ",\"total\":\($0.takes),\"total_seconds\":\($0.seconds)" } ?? ""
        return "{\"takes\":[\(entries.joined(separator: ","))],\"next\":\(next)\(totals)}"
    }

    public func takes() throws -> [CatalogedTake] { try entries.map { try CatalogedTake(json: $0) } }

    /// The given text is not a valid page mark.
    public struct UnreadableMark: Error, CustomStringConvertible {
        var text: String

        public var description: String { "takes: after: found \(text), allowed is what 'next' of a page says" }
    }
}

extension Catalog {
    public struct Counts: Hashable, Sendable {
        /// Takes on all storages.
        public var takes: Int
        /// Takes on storages that are not present.
        public var elsewhere: Int
    }

    public func counts() throws -> Counts {
        try read { database in
            let all = try Int.fetchOne(database, sql: "SELECT count(*) FROM take") ?? 0
            let elsewhere = try Int.fetchOne(
                database,
                sql: "SELECT count(*) FROM take WHERE storage IN (SELECT id FROM storage WHERE NOT isHere)")
            return Counts(takes: all, elsewhere: elsewhere ?? 0)
        }
    }

    /// One page of the takes that a query finds.
    /// - Parameters:
    ///   - zone: the time zone of its hours and days.
    ///   - now: decides which days "today" and dates without a year mean.
    /// - Throws: `TakePage.UnreadableMark` if `query.after` is not a valid mark.
    public func page(
        _ query: TakeQuery, in zone: LocalZone = .kit, now: WallTime = SystemClock().wallTime()
    ) throws -> TakePage {
        let mark = try query.after.map { try PageMark($0) }
        return try read { database in
            let search = try TakeSearch(query, stores: stores, zone: zone, now: now, database)
            let (sql, arguments) = search.list(after: mark)
            let limit = max(1, min(query.limit, TakeQuery.mostTakes))
            let found = try Row.fetchAll(database, sql: sql + " LIMIT \(limit + 1)", arguments: arguments)
            let last = found.count > limit ? found[limit - 1] : nil
            let ids: [Int64] = found.prefix(limit).map { $0["id"] }
            let matches = try matches(search, in: ids, database)
            let totals = try query.isCounted ? totals(query, zone, now, database) : nil
            return TakePage(
                entries: try ids.map { id in
                    let entry = try entry(of: id, database)
                    return try matches[id].map { try Self.adding($0, to: entry) } ?? entry
                },
                next: last.map { PageMark(value: $0[search.column], id: $0["id"]).description },
                totals: totals)
        }
    }

    private func totals(
        _ query: TakeQuery, _ zone: LocalZone, _ now: WallTime, _ database: Database
    ) throws -> TakePage.Totals? {
        // All takes of each condition are selected by its index, because no page will be full.
        let search = try TakeSearch(query, stores: stores, zone: zone, now: now, many: .max, database)
        return try Row.fetchOne(database, sql: search.totals.sql, arguments: search.totals.arguments).map { row in
            let microseconds: Double = row[1]
            return TakePage.Totals(takes: row[0], seconds: microseconds / 1e6)
        }
    }

    /// The kits that recorded takes, sorted by name.
    public func kits() throws -> [String] {
        try read { database in
            // Jumps from one kit to the next in the index, so that takes are not read one by one.
            try String.fetchAll(
                database,
                sql: """
                    WITH RECURSIVE kit(name) AS (
                        SELECT min(\(CatalogSchema.kit)) FROM take
                        UNION ALL
                        SELECT (SELECT min(\(CatalogSchema.kit)) FROM take WHERE \(CatalogSchema.kit) > name) FROM kit
                        WHERE name IS NOT NULL
                    ) SELECT name FROM kit WHERE name IS NOT NULL
                    """)
        }
    }

    /// SQLite's query plans for a page and for the totals, for tests.
    func plan(of query: TakeQuery) throws -> [String] {
        try read { database in
            let now = SystemClock().wallTime()
            let search = try TakeSearch(query, stores: stores, zone: .kit, now: now, database)
            let (list, totals) = (search.list(after: nil), search.totals)
            let plans = [(list.sql + " LIMIT 51", list.arguments)] + [(totals.sql, totals.arguments)]
            return try plans.flatMap { sql, arguments in
                try Row.fetchAll(database, sql: "EXPLAIN QUERY PLAN " + sql, arguments: arguments)
            }.map { $0["detail"] }
        }
    }

    /// The takes to which a reference may refer: several if takes of several kits share the number or the stem. An
    /// origin is accepted too.
    public func find(_ reference: TakeReference) throws -> [CatalogedTake] {
        try read { database in
            let ids =
                switch reference {
                case .stem(let text):
                    switch TakeOrigin(text) {
                    case .stem(let stem):
                        try Int64.fetchAll(
                            database, sql: "SELECT id FROM take WHERE take = ? ORDER BY id", arguments: [stem])
                    case .kit(_, let number):
                        try Int64.fetchAll(
                            database, sql: "SELECT id FROM take WHERE number = ? AND origin = ? ORDER BY id",
                            arguments: [number, text])
                    }
                case .number(let number):
                    try Int64.fetchAll(
                        database, sql: "SELECT id FROM take WHERE number = ? ORDER BY startedUs LIMIT 10",
                        arguments: [number])
                case .last:
                    try Int64.fetchAll(
                        database,
                        sql: """
                            SELECT id FROM take WHERE storage IN (SELECT id FROM storage WHERE isHere)
                            ORDER BY number DESC, id DESC LIMIT 1
                            """)
                }
            return try ids.map { try CatalogedTake(json: entry(of: $0, database)) }
        }
    }

    public func lists(_ take: TakeIdentity) throws -> Bool {
        try read { database in try Self.row(of: take, database) != nil }
    }

    /// The sidecar as last read, as JSON; nil if there is no such take.
    public func sidecar(of take: TakeIdentity) throws -> String? {
        try read { database in
            try String.fetchOne(
                database, sql: "SELECT json FROM sidecar JOIN take USING (id) WHERE take = ? AND origin = ?",
                arguments: [take.stem, take.origin.description])
        }
    }

    /// A take for a list, as JSON, with the present path of its storage, and its combined state for all named stores.
    func entry(of id: Int64, _ database: Database) throws -> String {
        let places = stores.map { _ in "?" }.joined(separator: ", ")
        let statement = try database.cachedStatement(
            sql: """
                SELECT json_set(take.entry,
                    '$.folder', storage.path || '/' || take.day,
                    '$.place', iif(storage.isHere, 'here', 'elsewhere'),
                    '$.upload', (
                        SELECT state FROM upload
                        WHERE upload.id = take.id AND store IN (\(places)) AND state IN ('held', 'waiting', 'done')
                        ORDER BY state = 'done', state = 'waiting' LIMIT 1))
                FROM take JOIN storage ON storage.id = take.storage WHERE take.id = ?
                """)
        let arguments = StatementArguments(stores) + [id]
        guard let entry = try String.fetchOne(statement, arguments: arguments) else { throw NoSuchTake() }
        return entry
    }
}

extension CatalogedTake {
    init(json: String) throws {
        self = try JSONDecoder().decode(Self.self, from: Data(json.utf8))
    }
}

/// The end of a page: the value of the sort column in its last row, and the row id.
struct PageMark: CustomStringConvertible {
    var value: Int64
    var id: Int64

    init(value: Int64, id: Int64) {
        self.value = value
        self.id = id
    }

    init(_ text: String) throws(TakePage.UnreadableMark) {
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        guard parts.count == 2, let value = Int64(parts[0]), let id = Int64(parts[1]) else {
            throw TakePage.UnreadableMark(text: text)
        }
        self.init(value: value, id: id)
    }

    var description: String { "\(value):\(id)" }
}
