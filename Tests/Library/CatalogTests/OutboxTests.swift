import DiskCalls
import FinishedTakes
import GRDB
import TakeFiles
import Takes
import Testing

@testable import Catalog

@Suite(.waitsOnNamedThreads) struct OutboxTests {
    @Test func `a database of before the outbox gets one, with all takes that are not waiting for their conversion`()
        throws
    {
        let takes = try CatalogedTakes()
        for number in 1...3 { try takes.add(TakesOnDisk.sidecar(number)) }
        var pending = TakesOnDisk.sidecar(4)
        pending.pendingFormat = "flac"
        try takes.add(pending)
        // The database of the first version.
        try takes.catalog.database.write { database in
            try database.execute(sql: "DROP TABLE upload; DELETE FROM grdb_migrations WHERE identifier = '2 outbox'")
        }
        try takes.catalog.close()
        let (catalog, problem) = try Catalog.open(in: takes.disk.library, stores: ["folder:a", "folder:b"])
        #expect(problem == nil)
        try catalog.queueForNewStores()
        #expect(try catalog.outboxCounts(of: "folder:a").waiting == 3)
        #expect(try catalog.outboxCounts(of: "folder:b").waiting == 3)
        #expect(try catalog.page(TakeQuery()).takes().filter { $0.upload == .waiting }.count == 3)
    }

    @Test func `a take may go once every store has it, the oldest first, those with a star last`() throws {
        let takes = try CatalogedTakes()
        let catalog = try Catalog.open(in: takes.disk.library, stores: ["folder:a", "folder:b"]).0
        var stems: [String] = []
        for number in 1...3 {
            let sidecar = TakesOnDisk.sidecar(number, started: TakesOnDisk.morning + .seconds(number))
            let name = try takes.disk.add(sidecar)
            _ = try catalog.index(
                [StoredTake(name, in: TakesFolder(path: takes.disk.takes))], on: takes.number, at: takes.disk.takes)
            stems.append(name.stem)
        }
        func complete(_ stem: String, _ store: String) throws {
            _ = try catalog.note(stem) { notes in
                var receipt = UploadReceipt(store: store)
                (receipt.completed, receipt.revision) = (TakesOnDisk.morning.iso8601, 1)
                if notes.currentRevision > 0 {
                    receipt.add(.init(file: TakeFile.notes(of: stem).name, bytes: 1, sha256: "1"))
                    receipt.notesRevision = notes.currentRevision
                }
                notes[receiptOf: store] = receipt
            }
        }
        for stem in stems { try complete(stem, "folder:a") }
        #expect(try catalog.sentTakes(limit: 9).isEmpty)
        #expect(try catalog.outboxCounts(of: "folder:a").done == 3)
        for stem in stems { try complete(stem, "folder:b") }
        #expect(try catalog.sentTakes(limit: 9).map(\.take.stem) == stems)
        // The notes with the star must be sent first.
        _ = try catalog.note(stems[0]) { $0.starred = true }
        #expect(try catalog.sentTakes(limit: 9).map(\.take.stem) == [stems[1], stems[2]])
        for store in ["folder:a", "folder:b"] { try complete(stems[0], store) }
        #expect(try catalog.sentTakes(limit: 9).map(\.take.stem) == [stems[1], stems[2], stems[0]])
    }

    @Test func `a list is chosen by where takes stand with all stores, whether few stand there or many`() throws {
        let takes = try CatalogedTakes()
        let stores = ["folder:a", "folder:b"]
        let states: [String?] = [nil, "never", "waiting", "held", "done"]
        var expected: [TakeQuery.Upload: [String]] = [:]
        for (number, states) in states.flatMap({ one in states.map { [one, $0] } }).enumerated() {
            var sidecar = TakesOnDisk.sidecar(number, started: TakesOnDisk.morning + .seconds(number))
            // It is queued after its conversion.
            if states.allSatisfy({ $0 == nil }) { sidecar.pendingFormat = "flac" }
            let stem = try takes.add(sidecar)
            try takes.catalog.database.write { database in
                for (store, state) in zip(stores, states) where state != nil {
                    try database.execute(
                        sql: """
                            INSERT INTO upload (store, id, state, revision, attempts, isStarred, startedUs)
                            SELECT ?, id, ?, 1, 0, 0, startedUs FROM take WHERE take = ?
                            """, arguments: [store, state, stem])
                }
            }
            let standing = [UploadStanding.held, .waiting, .done].first { states.contains($0.rawValue) }
            let found: TakeQuery.Upload = standing.flatMap { TakeQuery.Upload(rawValue: $0.rawValue) } ?? .nowhere
            expected[found, default: []].append(stem)
            if found != .done { expected[.notDone, default: []].append(stem) }
        }
        try takes.catalog.close()
        let catalog = try Catalog.open(in: takes.disk.library, stores: stores).0
        for standing in TakeQuery.Upload.allCases {
            var query = TakeQuery()
            (query.upload, query.isDescending) = (standing, false)
            let page = try catalog.page(query).takes()
            #expect(page.map(\.take) == expected[standing])
            let found = try catalog.database.read { database in
                let search = try TakeSearch(
                    query, stores: stores, zone: .kit, now: SystemClock().wallTime(), many: 2, database)
                let (list, arguments) = search.list(after: nil)
                return try String.fetchAll(
                    database, sql: "SELECT take FROM (\(list)) JOIN take USING (id)", arguments: arguments)
            }
            #expect(found == expected[standing])
            let plan = try catalog.plan(of: query)
            let isSearch = !plan.contains { $0.contains("SCAN upload") || $0.contains("TEMP B-TREE FOR") }
            #expect(isSearch, "\(standing): \(plan)")
            if standing == .nowhere { #expect(plan.contains { $0.contains("takeByPending") }, "\(plan)") }
        }
        #expect(expected[.nowhere]?.count == 4)
    }

    @Test func `a take is held for a time, and no longer, also by a clock that was set back`() throws {
        let takes = try CatalogedTakes()
        let catalog = try Catalog.open(in: takes.disk.library, stores: ["folder:a"]).0
        let stem = try takes.add(TakesOnDisk.sidecar(1))
        try catalog.queueForNewStores()
        let now = TakesOnDisk.morning
        try catalog.fail(stem, for: "folder:a", .after(.seconds(60)), at: now)
        #expect(try catalog.releaseHeld(of: "folder:a", now: now) == now + .seconds(60))
        #expect(try catalog.nextUploads(to: "folder:a", limit: 9, without: []).isEmpty)
        #expect(try catalog.releaseHeld(of: "folder:a", now: now + .seconds(60)) == nil)
        #expect(try catalog.nextUploads(to: "folder:a", limit: 9, without: []).count == 1)
        #expect(try catalog.nextUploads(to: "folder:a", limit: 9, without: [.take(TakeIdentity(stem: stem))]).isEmpty)
        #expect(try catalog.nextUploads(to: "folder:a", limit: 9, without: [], outside: takes.disk.takes).isEmpty)
        try catalog.fail(stem, for: "folder:a", .after(.seconds(10 * 86400)), at: now)
        #expect(try catalog.releaseHeld(of: "folder:a", now: now) == nil)
        #expect(try catalog.nextUploads(to: "folder:a", limit: 9, without: []).count == 1)
    }

    @Test(arguments: [TakeNotes.UploadChoice.hold, .never])
    func `a failure leaves what a person decided while the take was sent`(choice: TakeNotes.UploadChoice) throws {
        let takes = try CatalogedTakes(stores: ["folder:a"])
        let stem = try takes.add(TakesOnDisk.sidecar(1))
        _ = try takes.catalog.note(stem) { $0.upload = choice }
        let before = try CatalogedTakes.uploads(takes.catalog)
        try takes.catalog.fail(stem, for: "folder:a")
        #expect(try CatalogedTakes.uploads(takes.catalog) == before)
    }

    @Test func `a failure of one revision does not hold the next one`() throws {
        let takes = try CatalogedTakes(stores: ["folder:a"])
        var sidecar = TakesOnDisk.sidecar(1)
        let stem = try takes.add(sidecar)
        sidecar.revision = 2
        try takes.add(sidecar)
        let before = try CatalogedTakes.uploads(takes.catalog)
        try takes.catalog.fail(stem, for: "folder:a", of: 1)
        #expect(try CatalogedTakes.uploads(takes.catalog) == before)
    }

    @Test(arguments: [["folder:a"], ["folder:a", "folder:b"]])
    func `a store that is named later, or again, gets the rows that a catalog that is built again has`(
        named: [String]
    ) throws {
        let takes = try CatalogedTakes(stores: named)
        var sidecars = (1...8).map { TakesOnDisk.sidecar($0, started: TakesOnDisk.morning + .seconds($0)) }
        sidecars[4].revision = 2
        sidecars[6].pendingFormat = "flac"
        let names = try sidecars.map { try takes.disk.add($0) }
        let stored = { try names.map { try StoredTake($0, in: TakesFolder(path: takes.disk.takes)) } }
        #expect(try takes.catalog.index(stored(), on: takes.number, at: takes.disk.takes).isEmpty)
        try takes.catalog.close()
        let without = try Catalog.open(in: takes.disk.library, stores: ["folder:a"]).0
        try without.queueForNewStores()
        for (name, change) in zip(names, Self.decisions) { _ = try without.note(name.stem, change) }
        try without.close()

        let stores = ["folder:a", "folder:b"]
        let later = try Catalog.open(in: takes.disk.library, stores: stores).0
        try later.queueForNewStores()
        let rows = try CatalogedTakes.uploads(later)
        try later.close()
        let rebuilt = try Catalog.open(in: takes.disk.library, isNew: true, stores: stores).0
        let number = try #require(try rebuilt.setPresent([takes.storage])[takes.storage])
        #expect(try rebuilt.index(stored(), on: number, at: takes.disk.takes).isEmpty)
        #expect(try rows == CatalogedTakes.uploads(rebuilt))
        let states = try rebuilt.database.read { database in
            try String.fetchAll(
                database, sql: "SELECT state FROM upload JOIN take USING (id) WHERE store = 'folder:b' ORDER BY number")
        }
        #expect(states == ["never", "held", "done", "done", "waiting", "held", "waiting"])
    }

    /// The decisions noted before a store is named.
    private static let decisions: [@Sendable (inout TakeNotes) -> Void] = [
        { $0.upload = .never },
        { $0.upload = .hold },
        { notes in
            notes[receiptOf: "folder:b"] = UploadReceipt(store: "folder:b")
            notes[receiptOf: "folder:b"]?.complete(revision: 1, at: TakesOnDisk.morning.iso8601)
        },
        { notes in
            let file = TakeNotes.FileHash(file: "a.wav", bytes: 1, sha256: "1")
            notes[receiptOf: "folder:b"] = UploadReceipt(store: "folder:b")
            notes[receiptOf: "folder:b"]?.add(file, unverified: "outbox: nothing is shown")
            notes[receiptOf: "folder:b"]?.complete(revision: 1, at: TakesOnDisk.morning.iso8601)
        },
        { $0.starred = true },
        { notes in
            var sound = TakeNotes.SoundNote(file: "\(notes.take).wav", bytes: 0, modifiedNs: 0, frames: 480_000)
            sound.problem = "it is missing"
            notes.sounds = [sound]
        },
    ]
}
