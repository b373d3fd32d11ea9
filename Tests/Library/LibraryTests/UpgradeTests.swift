import Control
import DiskCalls
import Files
import FinishedTakes
import GRDB
import Glibc
import PowerCuts
import TakeFiles
import Takes
import Testing
import Transport

@testable import Catalog
@testable import Library

/// A kit with takes of version 0.1, which did not have a kit id: upgraded, rolled back, and upgraded again.
@Suite(.waitsOnNamedThreads) struct UpgradeTests {
    private let disk = TakesOnDisk()
    private let store = "folder:home"
    private let files = FileSystem()
    private static let count = 1000

    /// A sidecar in the form of version 0.1.
    private func old(_ sidecar: Sidecar) -> [UInt8] {
        let text = String(decoding: SidecarFile.bytes(sidecar), as: UTF8.self)
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
        return Array(lines.filter { !$0.contains("\"kit_id\"") }.joined(separator: "\n").utf8)
    }

    private func oldSidecar(_ number: Int) -> Sidecar {
        var sidecar = TakesOnDisk.sidecar(
            number, started: TakesOnDisk.morning + .seconds(number * 400), seconds: 0.01,
            markers: ["bird \(number % 7)"])
        sidecar.startedMonotonicNs += Int64(number)
        return sidecar
    }

    /// Writes old takes: half of them sent, some with a memo, and an interrupted one.
    private func makeOldTakes() throws {
        mkdir("\(disk.library)/takes", 0o755)
        for number in 1...Self.count {
            let sidecar = oldSidecar(number)
            let name = try disk.add(sidecar)
            try disk.write(old(sidecar), to: "\(disk.takes)/\(name.day)/\(name.stem).json")
            guard number % 2 == 0 || number % 10 == 5 else { continue }
            var notes = TakeNotes(take: name.stem)
            if number % 10 == 5 { notes.memo = "memo \(number)" }
            if number % 2 == 0 {
                var receipt = UploadReceipt(store: store)
                for file in [sidecar.parts[0].file, "\(name.stem).json"] {
                    receipt.add(.init(file: file, bytes: 44, sha256: String(repeating: "0", count: 64)))
                }
                receipt.complete(revision: 1, at: "2026-11-25T07:00:00Z")
                notes[receiptOf: store] = receipt
                notes.recording = sidecar.recordingStart
            }
            let bytes = try #require(jsonText(notes)).utf8
            try disk.write(Array(bytes), to: "\(disk.library)/takes/\(name.stem).json")
        }
        // This comes first: a recovered take must be found among the finished ones.
        let directory = try TakesDirectory(path: disk.takes)
        let cut = try record(directory, isCut: true)
        let draft = "\(disk.takes)/\(cut.day)/\(cut.stem).json.part"
        let sidecar = try SidecarFile.sidecar(files.contents(draft), path: draft)
        try disk.write(old(sidecar), to: draft)
    }

    @discardableResult
    private func record(_ directory: TakesDirectory, isCut: Bool = false) throws -> TakeName {
        let started = TakesOnDisk.morning + .seconds(500_000)
        let name = try directory.nextTake(kit: "heron07", started: started)
        let format = StreamFormat(rateHz: 48_000, channels: 2, sampleFormat: .s16)
        var sidecar = Sidecar(
            name: name, started: started, startedMonotonic: Instant(nanoseconds: Int64(name.number)), bootID: "boot",
            clock: .ntp, card: "usb:0d8c:0014", format: format, preRollFrames: 0, gainDB: nil, agc: nil, version: "0.1")
        sidecar.kitID = directory.kitID()
        let output = try TakeOutput(
            in: directory, name: name, sidecar: sidecar, started: started, format: format, keepsUnfiltered: false,
            splitBytes: TakeOutput.largestSplitBytes)
        let sound = [UInt8](repeating: 3, count: 4 * 4800)
        try sound.withUnsafeBytes { try output.append($0, unfiltered: nil) }
        if isCut {
            try output.synced(output.syncPoint().run())
        } else {
            _ = try output.finish(endedBy: .stop, levels: [])
        }
        return name
    }

    /// The catalog of version 0.1.
    private func makeOldCatalog() throws {
        let database = try DatabaseQueue(path: Catalog.databasePath(in: disk.library))
        try CatalogSchema.migrator.migrate(database, upTo: "4 pending")
        let folder = TakesFolder(path: disk.takes)
        try database.write { database in
            try database.execute(
                sql: "INSERT INTO storage (mark, path, isHere) VALUES (?, ?, 1)",
                arguments: [try #require(Storage(at: disk.takes)).mark, disk.takes])
            for name in try folder.takes().takes {
                try insertAsOld(StoredTake(name, in: folder), database)
            }
        }
        try database.close()
    }

    private static let laterKeys = "'$.kit_id', '$.sound', '$.damaged', '$.span_seconds', '$.peak_dbfs', '$.rms_dbfs'"

    /// Inserts a row like version 0.1, without the keys and the columns of later versions.
    private func insertAsOld(_ take: StoredTake, _ database: Database) throws {
        let notesFile = "\(disk.library)/takes/\(take.name.stem).json"
        let modified = (try? files.attributes(notesFile))?.modifiedNs ?? 0
        let row = TakeRow(
            take, notes: TakeNotes(take: take.name.stem), notesModifiedNs: modified, storage: 1, place: disk.takes)
        try database.execute(
            sql: """
                INSERT INTO take (take, storage, day, sidecarByteCount, sidecarModifiedNs, sidecarInode, notesModifiedNs, startedUs,
                    durationUs, number, byteCount, markerCount, isStarred, entry)
                VALUES (?, 1, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, json_remove(?, \(Self.laterKeys)))
                """,
            arguments: [
                row.take, row.day, row.sidecarByteCount, row.sidecarModifiedNs, row.sidecarInode, modified,
                row.startedUs,
                row.durationUs, row.number, row.byteCount, row.markerCount, row.isStarred, jsonText(row.entry),
            ])
        try database.execute(
            sql: "INSERT INTO sidecar (id, json) VALUES (?, ?)",
            arguments: [database.lastInsertedRowID, String(decoding: take.json, as: UTF8.self)])
    }

    /// Opens the catalog and compares everything with the folder.
    private func scanned(isNew: Bool = false) throws -> Catalog {
        let (catalog, problem) = try Catalog.open(in: disk.library, isNew: isNew, stores: [store])
        #expect(problem == nil)
        try catalog.queueForNewStores()
        let storage = try #require(Storage(at: disk.takes))
        let scan = FolderScan(
            catalog: catalog, storage: storage, number: try #require(try catalog.setPresent([storage])[storage]),
            files: files, progress: ScanProgress(), report: { Issue.record("\($0)") })
        try scan.all()
        return catalog
    }

    /// The content of the catalog without the row ids, which depend on the order of reading.
    private func rows(_ catalog: Catalog) throws -> [String] {
        try catalog.database.read { database in
            try Row.fetchAll(
                database,
                sql: """
                    SELECT take.*, sidecar.json, store, state, why, upload.revision, memo, takeText.tags, markers FROM take
                    JOIN sidecar USING (id) LEFT JOIN upload USING (id) LEFT JOIN takeText ON takeText.rowid = take.id
                    ORDER BY number, store
                    """
            ).map { row in
                row.filter { $0.0 != "id" }.map { "\($0.0)=\($0.1)" }.joined(separator: "|")
            }
        }
    }

    /// The listed data of each take and its state with the stores, without the fields that version 0.1 did not write.
    private func facts(_ catalog: Catalog) throws -> [String] {
        try catalog.database.read { database in
            try Row.fetchAll(
                database,
                sql: """
                    SELECT number, take, origin, storage, day, take.startedUs, durationUs, byteCount, markerCount, take.isStarred, state, why,
                        json_extract(entry, '$.memo', '$.kit_id', '$.files', '$.started', '$.revision') AS entry
                    FROM take LEFT JOIN upload USING (id) ORDER BY number
                    """
            ).map { row in row.map { "\($0.0)=\($0.1)" }.joined(separator: "|") }
        }
    }

    private func states(_ catalog: Catalog) throws -> [String: Int] {
        try catalog.database.read { database in
            Dictionary(
                try Row.fetchAll(database, sql: "SELECT state, count(*) FROM upload GROUP BY state").map {
                    ($0[0], $0[1])
                },
                uniquingKeysWith: +)
        }
    }

    /// The content of all files by path.
    private func contents(_ folder: String) throws -> [String: [UInt8]] {
        var found: [String: [UInt8]] = [:]
        for name in try files.entries(folder) {
            let path = "\(folder)/\(name)"
            if let inside = try? files.entries(path), !inside.isEmpty {
                found.merge(try contents(path)) { first, _ in first }
            } else if !name.hasPrefix(".") {
                found[path] = try? files.contents(path)
            }
        }
        return found
    }

    private func checkOldTakes(_ catalog: Catalog, before: [String: [UInt8]]) throws {
        for number in [1, 2, 5, 500, Self.count] {
            let stem = oldSidecar(number).take
            let take = try #require(try catalog.find(.stem(stem)).first)
            #expect(take.identity.origin == .stem(stem) && take.kitID == nil)
            #expect(take.memo == (number % 10 == 5 ? "memo \(number)" : nil))
            #expect(take.upload == (number % 2 == 0 ? .done : .waiting))
        }
        let now = try contents(disk.path)
        for (path, bytes) in before where !path.contains(".part") && !path.contains("catalog.sqlite") {
            #expect(now[path] == bytes, "\(path) was changed")
        }
    }

    @Test func `1 000 old takes, half of them sent, are upgraded, rolled back and upgraded again, and nothing is lost`()
        throws
    {
        try makeOldTakes()
        try makeOldCatalog()
        let before = try contents(disk.path)
        mkdir("\(disk.path)/state", 0o755)
        let key = KitKey(
            folder: "\(disk.path)/state", files: FileSystem(calls: FaultyCalls(root: "\(disk.path)/state")))
        let cut: TakeName
        do {
            // As the recorder does: the interrupted take is recovered, and the numbers continue.
            let directory = try TakesDirectory(path: disk.takes, key: key)
            cut = try #require(try directory.leftovers().first)
            let recovery = TakeRecovery(of: cut, in: directory, bootID: "")
            while try recovery.step() == nil {}
            for number in 2...6 { #expect(try record(directory).number == Self.count + number) }
        }
        let kit = try #require(key.standing.id)
        var catalog = try scanned()
        try checkOldTakes(catalog, before: before)
        #expect(try catalog.counts().takes == Self.count + 6)
        #expect(try states(catalog) == ["done": 500, "waiting": 506])
        #expect(try catalog.find(.number(cut.number)).map(\.identity) == [TakeIdentity(stem: cut.stem)])
        for number in 2...6 {
            #expect(
                try catalog.find(.stem("\(kit):\(Self.count + number)")).map(\.identity.origin)
                    == [.kit(kit, number: Self.count + number)])
        }
        let new = try #require(try catalog.find(.last).first)
        _ = try catalog.note(new.identity) { $0.memo = "of the new version" }
        let upgraded = try facts(catalog)
        try catalog.close()
        catalog = try scanned(isNew: true)
        let rebuilt = try rows(catalog)
        #expect(try facts(catalog) == upgraded)
        try catalog.close()
        catalog = try scanned(isNew: true)
        #expect(try rows(catalog) == rebuilt)
        try catalog.close()
        // Rolled back: version 0.1 reads notes by the stem, and catalogs a new take of the later version and one of its
        // own.
        let notes = try #require(try contents(disk.library)["\(disk.library)/takes/\(new.take).json"])
        #expect(String(decoding: notes, as: UTF8.self).contains("\"memo\" : \"of the new version\""))
        try rollBack(to: oldSidecar(Self.count + 7), beside: new)
        catalog = try scanned()
        try checkOldTakes(catalog, before: before)
        #expect(try catalog.counts().takes == Self.count + 7)
        #expect(
            try catalog.find(.stem(new.take)).map { "\($0.identity == new.identity) \($0.memo ?? "")" } == [
                "true of the new version"
            ])
        let again = try rows(catalog)
        #expect(try facts(catalog).filter { !$0.contains("number=\(Self.count + 7)|") } == upgraded)
        #expect(again.filter { !$0.contains("|number=\(Self.count + 7)|") } == rebuilt)
        try catalog.close()
        catalog = try scanned(isNew: true)
        #expect(try rows(catalog) == again)
    }

    private func rollBack(to own: Sidecar, beside new: CatalogedTake) throws {
        let name = try disk.add(own)
        try disk.write(old(own), to: "\(disk.takes)/\(name.day)/\(name.stem).json")
        let database = try DatabaseQueue(path: Catalog.databasePath(in: disk.library))
        try database.write { database in
            try insertAsOld(StoredTake(name, in: TakesFolder(path: disk.takes)), database)
            #expect(
                try Int.fetchOne(database, sql: "SELECT count(*) FROM take WHERE take = ?", arguments: [new.take]) == 1)
            // Version 0.1 reads a sidecar again and drops the fields that it does not know.
            try database.execute(
                sql: "UPDATE take SET entry = json_remove(entry, \(Self.laterKeys)) WHERE take = ?",
                arguments: [new.take])
        }
        try database.close()
    }
}
