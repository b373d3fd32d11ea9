import GRDB
public import Takes
public import Transport

/// Some takes of a list.
public struct TakePage: Sendable {
    /// In the order that was asked for.
    public var takes: [CatalogedTake]
    /// What asks for the page that follows; nil: there is none.
    public var next: String?

    /// A text that is no end of a page.
    public struct UnreadableMark: Error, CustomStringConvertible {
        var text: String

        /// One sentence.
        public var description: String { "takes: after: found \(text), allowed is what 'next' of a page says" }
    }
}

extension Catalog {
    /// How many takes there are.
    public struct Counts: Hashable, Sendable {
        /// On all storages.
        public var takes: Int
        /// Of these, on storages that are out.
        public var elsewhere: Int
    }

    /// Counts the takes.
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
    /// - Throws: `TakePage.UnreadableMark` if `query.after` is no end of a page.
    public func page(_ query: TakeQuery) throws -> TakePage {
        let mark = try query.after.map { try PageMark($0) }
        return try database.read { database in
            let search = try TakeSearch(query, after: mark, stores: stores, database)
            let limit = max(1, min(query.limit, TakeQuery.mostTakes))
            let found = try Row.fetchAll(
                database, sql: search.sql + " LIMIT \(limit + 1)", arguments: search.arguments)
            let rows = try found.prefix(limit).map { found in
                try TakeRow.find(database, key: found["id"] as Int64)
            }
            let last = found.count > limit ? found[limit - 1] : nil
            return TakePage(
                takes: try rows.map { try placed($0, database) },
                next: last.map { PageMark(value: $0[search.column], id: $0["id"]).description })
        }
    }

    /// How SQLite finds what a query asks for, for tests.
    func plan(of query: TakeQuery) throws -> [String] {
        try database.read { database in
            let search = try TakeSearch(query, after: nil, stores: stores, database)
            return try Row.fetchAll(
                database, sql: "EXPLAIN QUERY PLAN " + search.sql + " LIMIT 51", arguments: search.arguments
            ).map { $0["detail"] }
        }
    }

    /// The takes that a person may mean; several, if takes of several kits share the number.
    public func find(_ reference: TakeReference) throws -> [CatalogedTake] {
        try database.read { database in
            let rows =
                switch reference {
                case .stem(let stem):
                    try TakeRow.fetchAll(database, sql: "SELECT * FROM take WHERE take = ?", arguments: [stem])
                case .number(let number):
                    try TakeRow.fetchAll(
                        database, sql: "SELECT * FROM take WHERE number = ? ORDER BY startedUs LIMIT 10",
                        arguments: [number])
                case .last:
                    try TakeRow.fetchAll(
                        database,
                        sql: """
                            SELECT * FROM take WHERE storage IN (SELECT id FROM storage WHERE isHere)
                            ORDER BY number DESC, id DESC LIMIT 1
                            """)
                }
            return try rows.map { try placed($0, database) }
        }
    }

    /// The sidecar of a take as it was read last, JSON; nil: there is no such take.
    public func sidecar(of take: String) throws -> String? {
        try database.read { database in
            try String.fetchOne(
                database, sql: "SELECT json FROM sidecar JOIN take USING (id) WHERE take = ?", arguments: [take])
        }
    }

    /// A row as a list shows it, with the place that its storage is at now.
    func placed(_ row: TakeRow, _ database: Database) throws -> CatalogedTake {
        let storage = try Row.fetchOne(
            database, sql: "SELECT path, isHere FROM storage WHERE id = ?", arguments: [row.storage])
        var entry = row.entry
        guard let storage else { return entry }
        entry.folder = "\(storage["path"] as String)/\(row.day)"
        entry.place = storage["isHere"] ? .here : .elsewhere
        entry.upload = try standing(of: row.id, database)
        return entry
    }
}

/// Where a page ends: the last take's value that the list is sorted by, and its row.
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

/// A query as SQL that finds rows by an index alone, in the order of the list: it ends once a page is full.
///
/// A plus before a column keeps SQLite from finding rows by that column first, and then sorting all of them.
struct TakeSearch {
    /// The column that the list is sorted by.
    let column: String
    private(set) var sql: String
    private(set) var arguments = StatementArguments()

    init(_ query: TakeQuery, after mark: PageMark?, stores: [String], _ database: Database) throws {
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
        if let upload = query.upload { addUpload(upload, stores) }
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

    private mutating func addUpload(_ standing: UploadStanding, _ stores: [String]) {
        let places = stores.map { _ in "?" }.joined(separator: ", ")
        // One look at all of them: where few match, a look for each take of the list would be many.
        func among(_ states: String) -> String {
            "IN (SELECT id FROM upload WHERE store IN (\(places)) AND state IN (\(states)))"
        }
        let arguments = StatementArguments(stores)
        switch standing {
        case .held: add("+id \(among("'held'"))", arguments)
        case .waiting: add("+id \(among("'waiting'")) AND +id NOT \(among("'held'"))", arguments + arguments)
        case .done: add("+id \(among("'done'")) AND +id NOT \(among("'held', 'waiting'"))", arguments + arguments)
        }
    }

    private mutating func addText(_ text: String, columns: String?) {
        // All words, each as the beginning of one; a text without words finds nothing.
        let words = FTS5Pattern(matchingAllPrefixesIn: text)?.rawPattern
        let pattern = words.map { columns == nil ? $0 : "\(columns ?? "") : (\($0))" } ?? "\"\""
        add("+id IN (SELECT rowid FROM takeText WHERE takeText MATCH ?)", [pattern])
    }

    /// What no take reaches is beyond the longest.
    private static func microseconds(_ seconds: Double) -> Int64 {
        Int64((max(0, min(seconds, 1e12)) * 1e6).rounded())
    }
}
