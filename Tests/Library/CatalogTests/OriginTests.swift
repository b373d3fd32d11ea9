import DiskCalls
import Files
import FinishedTakes
import GRDB
import Glibc
import TakeFiles
import Takes
import Testing
import Transport

@testable import Catalog

/// Takes of several kits in one catalog, with any names.
@Suite(.waitsOnNamedThreads) struct OriginTests {
    static let kits = ["00112233445566778899aabbccddeeff", "ffeeddccbbaa99887766554433221100"].map { KitID($0)! }
    private let disk = TakesOnDisk()

    static func sidecar(_ number: Int, _ kit: KitID?) -> Sidecar {
        var sidecar = TakesOnDisk.sidecar(number)
        sidecar.kitID = kit
        // Boot ids are unique to a kit.
        sidecar.bootID = kit?.description ?? "old"
        return sidecar
    }

    /// A folder for takes of each kit, with take 42, which has the same name in each.
    private func folders() throws -> [Storage] {
        try Self.kits.enumerated().map { index, kit in
            let folder = "\(disk.path)/kit\(index)"
            mkdir(folder, 0o755)
            try disk.add(Self.sidecar(42, kit), in: folder)
            return try #require(Storage(at: folder))
        }
    }

    private func index(_ storages: [Storage], _ catalog: Catalog) throws {
        let numbers = try catalog.setPresent(storages)
        for storage in storages {
            let name = TakesOnDisk.name(Self.sidecar(42, nil))
            let take = try StoredTake(name, in: TakesFolder(path: storage.path))
            #expect(try catalog.index([take], on: try #require(numbers[storage]), at: storage.path).isEmpty)
        }
    }

    /// All rows with all columns, except the row ids.
    private func rows(_ catalog: Catalog) throws -> [String] {
        try catalog.database.read { database in
            try Row.fetchAll(
                database,
                sql: """
                    SELECT take.*, sidecar.json, store, state, why, upload.revision, memo, takeText.tags, markers FROM take
                    JOIN sidecar USING (id) LEFT JOIN upload USING (id) LEFT JOIN takeText ON takeText.rowid = take.id
                    ORDER BY take, origin, store
                    """
            ).map { row in row.filter { $0.0 != "id" }.map { "\($0.0)=\($0.1)" }.joined(separator: "|") }
        }
    }

    @Test
    func
        `takes of two kits with one name are two takes, each with its own notes, also in a catalog that is built again`()
        throws
    {
        let storages = try folders()
        var catalog = try Catalog.open(in: disk.library, stores: ["folder:home"]).0
        try index(storages, catalog)
        let stem = Self.sidecar(42, nil).take
        let takes = try catalog.find(.stem(stem))
        #expect(takes.map(\.kitID) == Self.kits && Set(takes.map(\.folder)).count == 2)
        #expect(try catalog.note(takes[0].identity) { $0.memo = "wren" }.memo == "wren")
        let sent = try catalog.note(takes[1].identity) { notes in
            var receipt = UploadReceipt(store: "folder:home")
            receipt.complete(revision: 1, at: "2026-11-21T07:00:00Z")
            notes[receiptOf: "folder:home"] = receipt
        }
        #expect(sent.memo == nil && sent.upload == .done && sent.kitID == Self.kits[1])
        let files = try FileSystem().entries("\(disk.library)/takes").sorted()
        #expect(files == ["\(stem).\(Self.kits[1]).json", "\(stem).json"])
        #expect(try catalog.takesWithNotes() == [TakeIdentity(stem: stem), takes[1].identity])
        #expect(try catalog.find(.stem("\(Self.kits[1]):42")).map(\.upload) == [.done])
        #expect(
            try catalog.nextUploads(to: "folder:home", limit: 9, without: []).map(\.id) == [.take(takes[0].identity)])
        #expect(try catalog.nextUploads(to: "folder:home", limit: 9, without: [.take(takes[0].identity)]).isEmpty)
        // The order of reading the folders does not matter.
        for order in [storages, storages.reversed()] {
            let before = try rows(catalog)
            #expect(before.count == 2)
            try catalog.close()
            catalog = try Catalog.open(in: disk.library, isNew: true, stores: ["folder:home"]).0
            _ = try catalog.setPresent(storages)
            try index(order, catalog)
            _ = try catalog.setPresent(storages)
            #expect(try rows(catalog) == before)
        }
    }

    @Test func `a take that comes back from another folder is the same one, and a copy beside it is passed over`()
        throws
    {
        let storages = try folders()
        // The second folder has a copy of the first folder's take.
        try disk.add(Self.sidecar(42, Self.kits[0]), in: storages[1].path)
        let catalog = try Catalog.open(in: disk.library).0
        try index(storages, catalog)
        let take = try #require(try catalog.find(.number(42)).first)
        #expect(try catalog.counts().takes == 1 && take.folder.hasPrefix(storages[0].path))
        try index([storages[1]], catalog)
        let moved = try catalog.find(.number(42))
        #expect(moved.map(\.identity) == [take.identity] && moved[0].folder.hasPrefix(storages[1].path))
    }

    @Test
    func
        `a take whose sidecar was made anew keeps its row and its notes, and one in whose place another comes does not`()
        throws
    {
        let storages = try folders()
        let catalog = try Catalog.open(in: disk.library).0
        try index([storages[0]], catalog)
        let stem = Self.sidecar(42, nil).take
        _ = try catalog.note(stem) { $0.memo = "wren" }
        var rebuilt = Self.sidecar(42, nil)
        rebuilt.revision = 2
        try disk.add(rebuilt, in: storages[0].path)
        try index([storages[0]], catalog)
        #expect(
            try catalog.page(TakeQuery()).takes().map { "\($0.kitID == nil) \($0.memo ?? "") \($0.revision)" } == [
                "true wren 2"
            ])
        // Its file still contains the kit's id.
        #expect(try catalog.notes(of: stem).kitID == Self.kits[0])
        try disk.add(Self.sidecar(42, Self.kits[1]), in: storages[0].path)
        try index([storages[0]], catalog)
        #expect(
            try catalog.page(TakeQuery()).takes().map { "\($0.kitID == Self.kits[1]) \($0.memo ?? "none")" } == [
                "true none"
            ])
    }

    @Test func `kits whose cards were cloned hide no take of each other`() throws {
        let catalog = try Catalog.open(in: disk.library).0
        let storage = try #require(Storage(at: disk.takes))
        let number = try #require(try catalog.setPresent([storage])[storage])
        for minute in 0..<2 {
            var sidecar = TakesOnDisk.sidecar(42, started: TakesOnDisk.morning + .seconds(60 * minute))
            sidecar.kitID = Self.kits[0]
            let take = try StoredTake(try disk.add(sidecar), in: TakesFolder(path: disk.takes))
            #expect(try catalog.index([take], on: number, at: disk.takes).isEmpty)
        }
        #expect(try catalog.page(TakeQuery()).takes().count == 2)
        #expect(try catalog.find(.stem("\(Self.kits[0]):42")).count == 2)
    }

    @Test func `what a version wrote that knows takes by their stems alone is put right when the catalog is opened`()
        throws
    {
        let storages = try folders()
        var catalog = try Catalog.open(in: disk.library).0
        try index(storages, catalog)
        let before = try rows(catalog)
        // That version rewrites rows without the key, and could turn one into a row of the other take.
        try catalog.database.write { database in
            try database.execute(sql: "UPDATE take SET entry = json_remove(entry, '$.kit_id'), notesSeenNs = 0")
        }
        try catalog.close()
        catalog = try Catalog.open(in: disk.library).0
        #expect(try catalog.find(.number(42)).map(\.kitID) == Self.kits)
        try index(storages, catalog)
        #expect(try rows(catalog) == before)
        try catalog.database.write { database in
            try database.execute(
                sql: """
                    UPDATE take SET entry = json_remove(entry, '$.kit_id') WHERE id = 2;
                    UPDATE sidecar SET json = (SELECT json FROM sidecar WHERE id = 1) WHERE id = 2
                    """)
        }
        try catalog.close()
        catalog = try Catalog.open(in: disk.library).0
        #expect(try catalog.find(.number(42)).map(\.kitID) == [Self.kits[0]])
        try index(storages, catalog)
        #expect(try rows(catalog) == before)
    }

    /// Earlier versions stored the bytes of a sidecar unchanged, including anything that an editor had put before them.
    @Test(arguments: ["\u{feff}{}", "{", "", "[1]"])
    func `a sidecar that is no JSON to the database keeps no catalog from being opened`(json: String) throws {
        let storages = try folders()
        var catalog = try Catalog.open(in: disk.library).0
        try index(storages, catalog)
        let before = try rows(catalog)
        try catalog.database.write { database in
            try database.execute(sql: "UPDATE take SET entry = json_remove(entry, '$.kit_id') WHERE id = 2")
            try database.execute(sql: "UPDATE sidecar SET json = ? WHERE id = 2", arguments: [json])
        }
        try catalog.close()
        catalog = try Catalog.open(in: disk.library).0
        #expect(try catalog.find(.number(42)).map(\.kitID) == [Self.kits[0], nil])
        try index(storages, catalog)
        #expect(try rows(catalog) == before)
    }
}
