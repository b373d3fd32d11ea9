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

    /// The page for a reply: a JSON object with `takes` and `next`.
    public var json: String {
        "{\"takes\":[\(entries.joined(separator: ","))],\"next\":\(next.map { "\"\($0)\"" } ?? "null")}"
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
        try database.read { database in
            let all = try Int.fetchOne(database, sql: "SELECT count(*) FROM take") ?? 0
            let elsewhere = try Int.fetchOne(
                database,
                sql: "SELECT count(*) FROM take WHERE storage IN (SELECT id FROM storage WHERE NOT isHere)")
            return Counts(takes: all, elsewhere: elsewhere ?? 0)
        }
    }

    /// One page of the takes that a query finds.
    /// - Throws: `TakePage.UnreadableMark` if `query.after` is not a valid mark.
    public func page(_ query: TakeQuery) throws -> TakePage {
        let mark = try query.after.map { try PageMark($0) }
        return try database.read { database in
            let search = try TakeSearch(query, after: mark, stores: stores, database)
            let limit = max(1, min(query.limit, TakeQuery.mostTakes))
            let found = try Row.fetchAll(
                database, sql: search.sql + " LIMIT \(limit + 1)", arguments: search.arguments)
            let last = found.count > limit ? found[limit - 1] : nil
            return TakePage(
                entries: try found.prefix(limit).map { try entry(of: $0["id"], database) },
                next: last.map { PageMark(value: $0[search.column], id: $0["id"]).description })
        }
    }

    /// The kits that recorded takes, sorted by name.
    public func kits() throws -> [String] {
        try database.read { database in
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

    /// SQLite's query plan, for tests.
    func plan(of query: TakeQuery) throws -> [String] {
        try database.read { database in
            let search = try TakeSearch(query, after: nil, stores: stores, database)
            return try Row.fetchAll(
                database, sql: "EXPLAIN QUERY PLAN " + search.sql + " LIMIT 51", arguments: search.arguments
            ).map { $0["detail"] }
        }
    }

    /// The takes to which a reference may refer: several if takes of several kits share the number or the stem. An
    /// origin is accepted too.
    public func find(_ reference: TakeReference) throws -> [CatalogedTake] {
        try database.read { database in
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
        try database.read { database in try Self.row(of: take, database) != nil }
    }

    /// The sidecar as last read, as JSON; nil if there is no such take.
    public func sidecar(of take: TakeIdentity) throws -> String? {
        try database.read { database in
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

/// A query as SQL that finds rows by an index alone, in the order of the list, so that it can stop when a page is full.
///
/// A plus before a column keeps SQLite from finding rows by that column first and then sorting all of them.
struct TakeSearch {
    /// The column that the list is sorted by.
    let column: String
    private(set) var sql: String
    private(set) var arguments = StatementArguments()

    /// - Parameter many: from this number on, the takes of a condition are not selected first by its index.
    init(
        _ query: TakeQuery, after mark: PageMark?, stores: [String], many: Int = 2000, _ database: Database
    ) throws {
        column =
            switch query.order {
            case .started: "startedUs"
            case .duration: "durationUs"
            case .number: "number"
            case .size: "byteCount"
            }
        sql = "SELECT id, \(column) FROM take WHERE 1"
        if let mark { add("(\(column), id) \(query.isDescending ? "<" : ">") (?, ?)", [mark.value, mark.id]) }
        if let isStarred = query.isStarred { add("isStarred = ?", [isStarred]) }
        if let since = query.since { add("startedUs >= ?", [since.microseconds]) }
        if let until = query.until { add("startedUs < ?", [until.microseconds]) }
        if let least = query.leastSeconds { add("durationUs >= ?", [Self.microseconds(least)]) }
        if let most = query.mostSeconds { add("durationUs <= ?", [Self.microseconds(most)]) }
        if let place = query.place {
            let storages = try Int64.fetchAll(
                database, sql: "SELECT id FROM storage WHERE isHere = ?", arguments: [place == .here])
            add("+storage IN (\(storages.map(String.init).joined(separator: ", ")))", [])
        }
        if let kit = query.kit {
            let condition = "\(CatalogSchema.kit) = ?"
            let areFew = try addFew("SELECT id FROM take WHERE \(condition)", [kit], many: many, database)
            if !areFew { add(condition, [kit]) }
        }
        if let isDamaged = query.isDamaged {
            let damaged = "SELECT id FROM take WHERE \(CatalogSchema.sound) = 'damaged'"
            add("+id \(isDamaged ? "IN" : "NOT IN") (\(damaged))", [])
        }
        if let upload = query.upload { try addUpload(upload, stores, many: many, database) }
        if let tag = query.tag { add("+id IN (SELECT id FROM tag WHERE tag = ?)", [tag]) }
        if let text = query.text { addText(text, columns: nil) }
        switch query.marker {
        case nil: break
        case "": add("markerCount > 0", [])
        case let marker?: addText(marker, columns: "markers")
        }
        let direction = query.isDescending ? "DESC" : "ASC"
        sql += " ORDER BY \(column) \(direction), id \(direction)"
    }

    private mutating func add(_ condition: String, _ values: StatementArguments) {
        sql += " AND " + condition
        arguments += values
    }

    /// Adds the condition that a take is in the result of `takes`, an SQL query that uses an index, if that result is
    /// small.
    ///
    /// With many results, testing each take in the order of the list fills a page soon, while building the set of all
    /// would take long. With few results, testing each take would take long.
    /// - Returns: whether the result is small. If not, nothing is added.
    private mutating func addFew(
        _ takes: String, _ values: StatementArguments, many: Int, _ database: Database
    ) throws -> Bool {
        let count = try Int.fetchOne(
            database, sql: "SELECT count(*) FROM (\(takes) LIMIT \(many))", arguments: values)
        guard let count, count < many else { return false }
        add("+id IN (\(takes))", values)
        return true
    }

    private mutating func addUpload(
        _ standing: TakeQuery.Upload, _ stores: [String], many: Int, _ database: Database
    ) throws {
        let places = stores.map { _ in "?" }.joined(separator: ", ")
        let values = StatementArguments(stores)
        func each(_ states: String) -> String {
            "EXISTS (SELECT 1 FROM upload WHERE upload.id = take.id AND store IN (\(places)) AND state IN (\(states)))"
        }
        func among(_ states: String) -> String {
            "SELECT id FROM upload WHERE store IN (\(places)) AND state IN (\(states))"
        }
        func add(_ state: String) throws {
            let areFew = try addFew(among(state), values, many: many, database)
            if !areFew { self.add(each(state), values) }
        }
        // A take that waits for its conversion has no row for any store. Every other take has one row per store.
        func addPending(or states: String) throws {
            guard !stores.isEmpty else { return }
            let takes = "\(among(states)) UNION ALL SELECT id FROM take WHERE \(CatalogSchema.isPending)"
            _ = try addFew(takes, values, many: many, database)
        }
        switch standing {
        case .held: try add("'held'")
        case .waiting:
            try add("'waiting'")
            self.add("NOT \(each("'held'"))", values)
        case .done:
            try add("'done'")
            self.add("NOT \(each("'held', 'waiting'"))", values)
        case .notDone:
            try addPending(or: "'never', 'held', 'waiting'")
            self.add("(\(each("'held', 'waiting'")) OR NOT \(each("'done'")))", values + values)
        case .nowhere:
            try addPending(or: "'never'")
            self.add("NOT \(each("'held', 'waiting', 'done'"))", values)
        }
    }

    private mutating func addText(_ text: String, columns: String?) {
        // Every word must match as a prefix. A text without words finds nothing.
        let words = FTS5Pattern(matchingAllPrefixesIn: text)?.rawPattern
        let pattern = words.map { columns == nil ? $0 : "\(columns ?? "") : (\($0))" } ?? "\"\""
        add("+id IN (SELECT rowid FROM takeText WHERE takeText MATCH ?)", [pattern])
    }

    /// Values are limited to 1e12 s, more than any take has, to avoid an overflow.
    private static func microseconds(_ seconds: Double) -> Int64 {
        Int64((max(0, min(seconds, 1e12)) * 1e6).rounded())
    }
}
