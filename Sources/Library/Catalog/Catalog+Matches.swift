import FoundationEssentials
import GRDB
import Takes

extension Catalog {
    /// For each of these takes whose markers have what a search looks for: the marker with most of it.
    func matches(
        _ search: TakeSearch, in ids: [Int64], _ database: Database
    ) throws -> [Int64: CatalogedTake.Match] {
        guard let pattern = search.markerPattern, !ids.isEmpty else { return [:] }
        // With the plus, one pass over the index finds all takes, instead of one pass for each of them.
        let found = try Row.fetchAll(
            database,
            sql: """
                SELECT rowid, highlight(takeText, 2, ?, ?) AS text FROM takeText
                WHERE takeText MATCH ? AND +rowid IN (\(ids.map(String.init).joined(separator: ", ")))
                """, arguments: [MarkedText.begin, MarkedText.end, pattern])
        var matches: [Int64: CatalogedTake.Match] = [:]
        for row in found {
            let id: Int64 = row["rowid"]
            // One take whose notes or sidecar cannot be read must not keep the others from being listed.
            guard let take = try Self.identity(of: id, database), let notes = try? readableNotes(of: take).notes,
                let recorded = try? Self.recordedMarkers(of: id, database),
                let marker = MarkedText(row["text"] ?? "").best(of: notes.markers(of: recorded))
            else { continue }
            let note = marker.note ?? marker.label ?? marker.by ?? ""
            matches[id] = CatalogedTake.Match(atFrame: marker.atFrame, note: note)
        }
        return matches
    }

    private static func identity(of id: Int64, _ database: Database) throws -> TakeIdentity? {
        try Row.fetchOne(database, sql: "SELECT take, origin FROM take WHERE id = ?", arguments: [id]).map { row in
            TakeIdentity(stem: row[0], origin: TakeOrigin(row[1]))
        }
    }

    /// An entry, which is a JSON object, with the key `match`.
    static func adding(_ match: CatalogedTake.Match, to entry: String) throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return try "\(entry.dropLast()),\"match\":\(String(decoding: encoder.encode(match), as: UTF8.self))}"
    }
}

/// The text of a take's markers in `takeText`, in which SQLite marked what a search found.
struct MarkedText {
    static let (begin, end) = ("\u{1}", "\u{2}")

    private let bytes: [UInt8]

    init(_ text: String) { bytes = Array(text.utf8) }

    /// The marker with most marks, or the first of those. Nil if no marker has a mark, or the text is not that of these
    /// markers.
    func best(of markers: [Sidecar.Marker]) -> Sidecar.Marker? {
        var rest = bytes[...]
        func skipMarks() -> Int {
            let marks = rest.prefix { $0 == 1 || $0 == 2 }
            rest = rest.dropFirst(marks.count)
            return marks.count { $0 == 1 }
        }
        var best: (marker: Sidecar.Marker, count: Int)?
        var isFirst = true
        for marker in markers {
            var count = 0
            for words in marker.content.words {
                guard isFirst || rest.popFirst() == UInt8(ascii: "\n") else { return nil }
                isFirst = false
                for byte in words.utf8 {
                    count += skipMarks()
                    guard rest.popFirst() == byte else { return nil }
                }
                // The mark at the end of a word.
                count += skipMarks()
            }
            if count > best?.count ?? 0 { best = (marker, count) }
        }
        return best?.marker
    }
}
