import GRDB
import TakeFiles
public import Takes

extension Catalog {
    /// What is noted of a take; nothing, if the library has no file of it.
    /// - Throws: `FileError`; `NotesError` if the file is damaged.
    public func notes(of take: String) throws -> TakeNotes { try notes.notes(of: take) }

    /// Changes what is noted of a take. It is in the library's own file, on the disk, before it is in the catalog.
    /// - Throws: `FileError`, `NoSuchTake`, or an error of the database.
    public func note(_ take: String, _ change: (inout TakeNotes) -> Void) throws -> CatalogedTake {
        try database.write { database in
            guard var row = try Self.row(of: take, database), let id = row.id else { throw NoSuchTake() }
            var noted = (try? notes.notes(of: take)) ?? TakeNotes(take: take)
            let before = noted
            change(&noted)
            if noted != before { try notes.write(noted) }
            row.notesModifiedNs = notes.modified(take)
            row.isStarred = noted.starred
            row.entry.memo = noted.memo
            row.entry.tags = noted.tags
            row.entry.starred = noted.starred
            try row.update(database)
            let text = try Row.fetchOne(
                database, sql: "SELECT markers FROM takeText WHERE rowid = ?", arguments: [id])
            let markers: String? = text?["markers"]
            try Self.setText(noted, markers: markers ?? "", of: id, database)
            if noted != before { try queue(row, noted, database) }
            return try placed(row, database)
        }
    }

    /// There is no such take in the catalog.
    public struct NoSuchTake: Error {}
}
