import GRDB
import Takes

/// A query as SQL that finds rows by an index alone, in the order of the list, so that it can stop when a page is full.
///
/// A plus before a column keeps SQLite from finding rows by that column first and then sorting all of them.
struct TakeSearch {
    /// The column that the list is sorted by.
    let column: String
    /// A pattern for `takeText`: what the markers of a take contain if they are what a person searched for, with `typed` or
    /// `label`. Nil if the query does not search for words. The other conditions need no match, so that they stay fast.
    private(set) var markerPattern: String?
    private let isDescending: Bool
    private var conditions = ""
    private var arguments = StatementArguments()

    /// - Parameters:
    ///   - zone: of hours and days.
    ///   - many: from this number on, the takes of a condition are not selected first by its index.
    init(
        _ query: TakeQuery, stores: [String], zone: LocalZone, now: WallTime, many: Int = 2000, _ database: Database
    ) throws {
        column =
            switch query.order {
            case .started: "startedUs"
            case .duration: "durationUs"
            case .number: "number"
            case .size: "byteCount"
            case .loudness: query.isDescending ? "loudness" : "quietness"
            }
        isDescending = query.isDescending
        if let isStarred = query.isStarred { add("isStarred = ?", [isStarred]) }
        if let since = query.since { add("startedUs >= ?", [since.microseconds]) }
        if let until = query.until { add("startedUs < ?", [until.microseconds]) }
        if let least = query.leastSeconds { add("durationUs >= ?", [Self.microseconds(least)]) }
        if let most = query.mostSeconds { add("durationUs <= ?", [Self.microseconds(most)]) }
        if let least = query.leastPeakDBFS {
            add("\(column == "loudness" ? "" : "+")loudness >= ?", [Loudness.thousandths(least)])
        }
        addHours(query.fromHour ?? 0, query.toHour ?? 24, zone, now)
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
        if let text = query.text { addWords(Self.words(text)) }
        if let typed = query.typed { addTyped(typed, zone, now) }
        switch query.marker {
        case nil: break
        case "": add("markerCount > 0", [])
        case let marker?: addWords(Self.inMarkers(Self.words(marker)))
        }
        if let label = query.label {
            let pattern = Self.inMarkers(Self.phrase(label))
            addWords(pattern)
            markerPattern = pattern
        }
    }

    /// A page, without its limit.
    /// - Parameter mark: the end of the page before, or nil for the first page.
    func list(after mark: PageMark?) -> (sql: String, arguments: StatementArguments) {
        let place = mark == nil ? "" : " AND (\(column), id) \(isDescending ? "<" : ">") (?, ?)"
        let direction = isDescending ? "DESC" : "ASC"
        return (
            "SELECT id, \(column) FROM take WHERE 1\(conditions)\(place) ORDER BY \(column) \(direction), id \(direction)",
            arguments + (mark.map { StatementArguments([$0.value, $0.id]) } ?? [])
        )
    }

    /// The number of all takes that are found, and the sum of their lengths in microseconds.
    var totals: (sql: String, arguments: StatementArguments) {
        ("SELECT count(*), total(durationUs) FROM take WHERE 1\(conditions)", arguments)
    }

    private mutating func add(_ condition: String, _ values: StatementArguments) {
        conditions += " AND " + condition
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

    /// Finds nothing: a pattern for a text without words.
    private static let nothing = "\"\""

    /// Every word must match as a prefix.
    private static func words(_ text: String) -> String {
        FTS5Pattern(matchingAllPrefixesIn: text)?.rawPattern ?? nothing
    }

    /// The words must follow each other, the last one as a prefix.
    private static func phrase(_ text: String) -> String {
        FTS5Pattern(matchingPhrase: text).map { "\($0.rawPattern) *" } ?? nothing
    }

    /// A pattern for the markers alone.
    private static func inMarkers(_ pattern: String) -> String {
        pattern == nothing ? nothing : "markers : (\(pattern))"
    }

    private mutating func addWords(_ pattern: String) {
        add("+id IN (SELECT rowid FROM takeText WHERE takeText MATCH ?)", [pattern])
    }

    private mutating func addTyped(_ text: String, _ zone: LocalZone, _ now: WallTime) {
        let words = Self.words(text)
        switch TypedSearch(text) {
        case .number(let number):
            add(
                """
                +id IN (SELECT id FROM take WHERE number = ?
                    UNION ALL SELECT rowid FROM takeText WHERE takeText MATCH ?)
                """, [number, words])
            markerPattern = Self.inMarkers(words)
        case .day(let typed):
            // There is no 29th of February in each year.
            guard let day = typed.resolved(today: zone.day(of: now)) else { return add("0", []) }
            let span = zone.span(of: day)
            add("startedUs >= ? AND startedUs < ?", [span.lowerBound.microseconds, span.upperBound.microseconds])
        case .words:
            addWords(words)
            markerPattern = Self.inMarkers(words)
        }
    }

    private mutating func addHours(_ from: Double, _ to: Double, _ zone: LocalZone, _ now: WallTime) {
        guard from != to, to - from < 24 else { return }
        let time = Self.timeOfDay(zone, now)
        add(
            "(\(time) >= ? \(from < to ? "AND" : "OR") \(time) < ?)",
            [Self.microseconds(from * 3600), Self.microseconds(to * 3600)])
    }

    /// The year of the oldest takes whose local time is right also after a change of the clocks.
    private static let firstYear = 2015

    /// Microseconds since midnight by local time, computed from `startedUs` alone.
    private static func timeOfDay(_ zone: LocalZone, _ now: WallTime) -> String {
        let first = CalendarDay(year: firstYear, month: 1, day: 1).map { zone.start(of: $0) } ?? now
        let changes = zone.changes(in: min(first, now)..<now + .seconds(366 * 86_400))
        let cases = changes.dropFirst().reversed().map { change in
            "WHEN startedUs >= \(change.from.microseconds) THEN \(change.secondsAhead * 1_000_000)"
        }
        let usual = changes[0].secondsAhead * 1_000_000
        let ahead = cases.isEmpty ? "\(usual)" : "CASE \(cases.joined(separator: " ")) ELSE \(usual) END"
        let day = 86_400_000_000
        return "((startedUs + \(ahead)) % \(day) + \(day)) % \(day)"
    }

    /// Values are limited to 1e12 s, more than any take has, to avoid an overflow.
    private static func microseconds(_ seconds: Double) -> Int64 {
        Int64((max(0, min(seconds, 1e12)) * 1e6).rounded())
    }
}
