import FoundationEssentials
import GRDB
import TakeFiles
public import Takes

extension Catalog {
    /// The notes of a take; empty if the library has no file for it.
    /// - Throws: `FileError`; `NotesError` if nothing of the file can be read.
    public func notes(of take: TakeIdentity) throws -> TakeNotes { try notes.read(take).notes }

    /// The notes of a take, and the error of their file, or nil if all of it was read.
    /// - Throws: `FileError`.
    public func readableNotes(of take: TakeIdentity) throws -> (notes: TakeNotes, problem: NotesError?) {
        do {
            return try notes.read(take)
        } catch let error as NotesError {
            return (TakeNotes(take: take.stem), error)
        }
    }

    /// Changes the notes of a take. The library's own file is on the disk before the catalog is changed.
    /// - Parameter failures: whether earlier failures of its upload still hold it.
    /// - Throws: `FileError`, `NoSuchTake`, or an error of the database.
    public func note(
        _ take: TakeIdentity, failures: Failures = .kept, _ change: (inout TakeNotes) -> Void
    ) throws -> CatalogedTake {
        try note(take, failures: failures) { notes, _ in change(&notes) }
    }

    /// The same with a closure that may throw, in which case nothing changes. The closure also receives the markers of
    /// the take's sidecar.
    /// - Throws: errors of `change`, `FileError`, `NoSuchTake`, or an error of the database.
    public func note(
        _ take: TakeIdentity, failures: Failures = .kept,
        change: (inout TakeNotes, _ recorded: [Sidecar.Marker]) throws -> Void
    ) throws -> CatalogedTake {
        let (changed, isOther) = try write { database in
            guard var row = try Self.row(of: take, database), let id = row.id else { throw NoSuchTake() }
            var noted = try readableNotes(of: take).notes
            let before = noted
            let recorded = try Self.recordedMarkers(of: id, database)
            try change(&noted, recorded)
            noted.revise(since: before)
            let damage = row.entry.damaged
            // An older version writes rows without the state of the sound.
            if noted.sounds != before.sounds || noted.sounds != nil && row.entry.sound == nil {
                try Self.setSound(of: &row, noted, database)
            }
            let failures = damage != nil && row.entry.damaged == nil ? .forgotten : failures
            let hasChanged = noted != before || row.entry.damaged != damage || failures == .forgotten
            let markers = noted.markers(of: recorded)
            if noted != before { try notes.write(noted, of: take) }
            row.notesModifiedNs = notes.modified(take)
            row.notesSeenNs = row.notesModifiedNs
            row.isStarred = noted.starred
            row.entry.title = noted.title
            row.entry.memo = noted.memo
            row.entry.tags = noted.tags
            row.entry.starred = noted.starred
            row.entry.counts.markers = markers.count
            row.markerCount = markers.count
            try row.update(database)
            try Self.removeText(of: id, database)
            try Self.addText(noted, markers: markers, of: id, database)
            if hasChanged { try queue(row, noted, failures: failures, database) }
            return (try CatalogedTake(json: entry(of: id, database)), hasChanged)
        }
        if isOther { changes.post([.revised(take.stem)]) }
        return changed
    }

    /// Changes the notes also of a take that is not in the catalog, for example because its stick is not inserted or it
    /// was not scanned yet. Its notes must not contain outdated facts either. Without notes, nothing is written.
    /// - Throws: `FileError`, or an error of the database.
    public func noteAnyway(_ take: TakeIdentity, _ change: (inout TakeNotes) -> Void) throws {
        let isCataloged = try write { database in
            guard try Self.row(of: take, database) == nil else { return true }
            var noted = try readableNotes(of: take).notes
            let before = noted
            guard !noted.isEmpty else { return false }
            change(&noted)
            noted.revise(since: before)
            if noted != before { try notes.write(noted, of: take) }
            return false
        }
        if isCataloged { _ = try note(take, change) }
    }

    static func recordedMarkers(of id: Int64, _ database: Database) throws -> [Sidecar.Marker] {
        let text = try String.fetchOne(
            database, sql: "SELECT json_extract(json, '$.markers') FROM sidecar WHERE id = ?", arguments: [id])
        return try text.map { try JSONDecoder().decode([Sidecar.Marker].self, from: Data($0.utf8)) } ?? []
    }

    public struct NoSuchTake: Error {}
}
