import DiskCalls
import FinishedTakes
import GRDB
import TakeFiles
import Takes
import Testing

@testable import Catalog

/// Takes that wait to be sent because a person changed their notes.
@Suite(.waitsOnNamedThreads) struct NotesHomeTests {
    private let takes: CatalogedTakes
    private let catalog: Catalog
    private let name: TakeName

    init() throws {
        takes = try CatalogedTakes()
        catalog = try Catalog.open(in: takes.disk.library, stores: ["folder:a", "folder:b"]).0
        name = try takes.disk.add(TakesOnDisk.sidecar(7, markers: ["wren"]))
        try index(catalog)
    }

    private func index(_ catalog: Catalog) throws {
        let stored = try StoredTake(name, in: TakesFolder(path: takes.disk.takes))
        #expect(try catalog.index([stored], on: takes.number, at: takes.disk.takes).isEmpty)
    }

    /// Writes complete receipts.
    private func complete(_ catalog: Catalog, knowsNotes: Bool = true) throws {
        _ = try catalog.note(name.stem) { notes in
            for store in catalog.stores {
                var receipt = UploadReceipt(store: store)
                (receipt.completed, receipt.revision) = (TakesOnDisk.morning.iso8601, 1)
                if knowsNotes, notes.currentRevision > 0 {
                    receipt.add(.init(file: TakeFile.notes(of: notes.take).name, bytes: 1, sha256: "1"))
                    receipt.notesRevision = notes.currentRevision
                }
                notes[receiptOf: store] = receipt
            }
        }
    }

    private func isHome(_ catalog: Catalog) throws -> Bool { try catalog.sentTakes(limit: 9).map(\.take) == [name] }

    private static let changes: [@Sendable (inout TakeNotes) -> Void] = [
        { $0.memo = "a wren" }, { $0.starred = true }, { $0.tag(adding: ["owl"], removing: []) },
        { $0.setMarker(.init(atFrame: TakeFrame(7), note: "owl")) },
        { $0.removeMarker(at: .first, of: [.init(atFrame: .first, note: "wren")]) },
    ]

    @Test(arguments: 0..<5) func `each change of what is noted has a take that is at home wait for all stores`(
        _ index: Int
    ) throws {
        try complete(catalog)
        #expect(try isHome(catalog))
        _ = try catalog.note(name.stem, Self.changes[index])
        for store in catalog.stores { #expect(try catalog.outboxCounts(of: store).waiting == 1) }
        #expect(try catalog.notes(of: name.stem).currentRevision == 1)
        try complete(catalog)
        #expect(try isHome(catalog))
        // Repeating the change has no effect.
        _ = try catalog.note(name.stem, Self.changes[index])
        #expect(try isHome(catalog) && catalog.notes(of: name.stem).currentRevision == 1)
    }

    @Test(arguments: [true, false])
    func `a take that an earlier version sent waits if something is noted of it, until that is sent`(
        _ isNoted: Bool
    ) throws {
        try complete(catalog, knowsNotes: false)
        #expect(try isHome(catalog))
        // The state left by that version: no revision, no notes file in the receipt, and a column that it does not
        // write.
        var notes = try catalog.notes(of: name.stem)
        notes.starred = isNoted
        try catalog.notes.write(notes, of: TakeIdentity(stem: name.stem))
        let modified = catalog.notesModified(of: name.stem)
        try catalog.database.write { database in
            try database.execute(sql: "UPDATE take SET notesModifiedNs = ?, notesSeenNs = 0", arguments: [modified])
        }
        try catalog.close()
        let attributes = try TakesFolder(path: takes.disk.takes).sidecarAttributes(of: name)
        for attempt in 1...3 {
            let opened = try Catalog.open(in: takes.disk.library, stores: catalog.stores).0
            let known = try #require(try opened.known(of: takes.number, day: name.day)[name.stem])
            let isKnown = known.isOf(attributes, notesModifiedNs: opened.notesModified(of: name.stem))
            #expect(isKnown == (attempt > 1))
            if !isKnown { try index(opened) }
            #expect(try isHome(opened) == (!isNoted || attempt == 3))
            if attempt == 2 { try complete(opened) }
            try opened.close()
        }
    }

    @Test func `a catalog of before this column gets it, and looks at all takes of which something is noted`() throws {
        try complete(catalog)
        try catalog.database.write { database in
            try database.execute(
                sql:
                    "ALTER TABLE take DROP COLUMN notesSeenNs; DELETE FROM grdb_migrations WHERE identifier = '5 notes'"
            )
        }
        try catalog.close()
        let (opened, problem) = try Catalog.open(in: takes.disk.library, stores: catalog.stores)
        #expect(problem == nil)
        let known = try #require(try opened.known(of: takes.number, day: name.day)[name.stem])
        let attributes = try TakesFolder(path: takes.disk.takes).sidecarAttributes(of: name)
        #expect(!known.isOf(attributes, notesModifiedNs: opened.notesModified(of: name.stem)))
        try index(opened)
        #expect(try isHome(opened))
    }
}
