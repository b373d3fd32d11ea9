import Control
import DiskCalls
import Files
import FinishedTakes
import GRDB
import Glibc
import Logging
import Synchronization
import TakeFiles
import Takes
import TestBench
import Testing
import Transport
import Upload

@testable import Catalog
@testable import Library

final class KeptLog: LogHandler, Sendable {
    private let kept = Mutex<[String]>([])
    var metadata: Logger.Metadata {
        get { [:] }
        set {}
    }
    var logLevel: Logger.Level {
        get { .info }
        set {}
    }
    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { nil }
        set {}
    }

    func log(event: LogEvent) { kept.withLock { $0.append("\(event.message)") } }

    /// The log, except the durations of scans.
    var lines: [String] { kept.withLock { $0.filter { !$0.contains(" takes compared in ") } } }
}

/// An indexer that receives its events from a test instead of the kernel.
struct TestedIndexer {
    let disk: TakesOnDisk
    let log = KeptLog()
    let catalogs: CatalogSlot
    let progress = ScanProgress()
    let watch: TakesWatch
    let indexer: Indexer
    var catalog: Catalog { catalogs.catalog }
    var outbox: OutboxRequests {
        OutboxRequests(board: OutboxBoard { _ in }, post: { _ in }, mark: PauseMark(in: disk.library))
    }

    /// Not connected to any stick.
    var sticks: StickDesk {
        get throws {
            let log = log
            return try StickDesk(Stores([]), catalogs, log: Logger(label: "test") { _ in log })
        }
    }

    /// Answers peers. It has no stores.
    var remote: RemoteDesk {
        get throws { try RemoteDesk(Stores([]), catalogs, copies()) }
    }

    func copies(_ plans: [StorePlan] = []) throws -> RemoteCopies { try RemoteCopies(Stores(plans), catalogs) }

    /// The handler of requests, with its own pairing code.
    func requests(reportDamage: @escaping @Sendable () -> Void) -> LibraryRequests {
        LibraryRequests(
            catalogs, progress: progress, outbox: outbox, pairing: PairingCodeFile.open(in: disk.library).0,
            fingerprint: nil,
            reportDamage: reportDamage)
    }

    /// A `TakeDeletion` with these stores, and the recorder's socket.
    func deletion(
        _ requests: LibraryRequests, _ copies: RemoteCopies? = nil, recorder: String? = nil
    ) throws -> TakeDeletion {
        let recorder = recorder ?? "\(disk.path)/none.sock"
        return try TakeDeletion(
            catalogs, requests, copies ?? self.copies(), discards(recorder), reader: DiskReader(name: "reader"),
            recorder: recorder)
    }

    /// Asks a recorder to delete takes. If the socket is only listening, nothing is deleted.
    func discards(_ recorder: String) throws -> DiscardDesk {
        try DiscardDesk(recorder: recorder, catalogs.inHand, pause: .milliseconds(1), clock: TestClock()) { _ in false
        }
    }

    init(
        _ disk: TakesOnDisk = TakesOnDisk(), roots: [String]? = nil, stores: [String] = [],
        release: StickRelease = StickRelease()
    ) throws {
        self.disk = disk
        catalogs = CatalogSlot(try Catalog.open(in: disk.library, stores: stores).0)
        watch = try TakesWatch()
        let log = log
        indexer = try Indexer(
            catalogs, roots: roots ?? [disk.takes], watch: watch, progress: progress, retryInterval: .zero,
            release: release, log: Logger(label: "test") { _ in log })
    }

    func stems() throws -> [String] {
        var query = TakeQuery()
        query.isDescending = false
        query.limit = 200
        var stems: [String] = []
        repeat {
            let page = try catalog.page(query)
            stems += try page.takes().map(\.take)
            query.after = page.next
        } while query.after != nil
        return stems
    }
}

@Suite(.waitsOnNamedThreads, .timeLimit(.minutes(15))) struct IndexerTests {
    private let tested: TestedIndexer
    private var disk: TakesOnDisk { tested.disk }

    init() throws { tested = try TestedIndexer() }

    private func started(hours: Int) -> WallTime { TakesOnDisk.morning + .seconds(3600 * hours) }

    @Test func `takes that the database could not take are compared once more, and the failure is reported once`()
        async throws
    {
        let forbid = "CREATE TRIGGER full BEFORE INSERT ON take BEGIN SELECT RAISE(ABORT, 'the disk is full'); END"
        try await tested.catalog.database.write { try $0.execute(sql: forbid) }
        await tested.indexer.scanAll()
        let name = try disk.add(TakesOnDisk.sidecar(1))
        let folder = "\(disk.takes)/\(name.day)"
        var events = tested.watch.events.makeAsyncIterator()
        await tested.indexer.handle(.sidecar(folder: folder, file: "\(name.stem).json"))
        for _ in 0..<2 {
            // Skip the kernel's events.
            while let event = await events.next(), event != .unknown {}
            #expect(try tested.stems() == [])
            await tested.indexer.handle(.unknown)
        }
        #expect(tested.log.lines.filter { $0.contains("the disk is full") }.count == 1)
        try await tested.catalog.database.write { try $0.execute(sql: "DROP TRIGGER full") }
        while let event = await events.next(), event != .unknown {}
        await tested.indexer.handle(.unknown)
        #expect(try tested.stems() == [name.stem])
    }

    @Test func `what people noted of a take, in a folder for takes, is no sidecar, and no take`() async throws {
        let name = try disk.add(TakesOnDisk.sidecar(1))
        let folder = "\(disk.takes)/\(name.day)"
        // Files copied back from home, one of them for a missing take with a higher number.
        let stray = TakesOnDisk.name(TakesOnDisk.sidecar(9))
        for stem in [name.stem, stray.stem] {
            try disk.write(Array("{}\n".utf8), to: "\(folder)/\(TakeFile.notes(of: stem).name)")
        }
        await tested.indexer.scanAll()
        #expect(try tested.stems() == [name.stem])
        for stem in [name.stem, stray.stem] {
            await tested.indexer.handle(.sidecar(folder: folder, file: TakeFile.notes(of: stem).name))
        }
        #expect(try tested.stems() == [name.stem])
        #expect(tested.log.lines.isEmpty)
        let found = try TakesFolder(path: disk.takes).takes()
        #expect(found.takes == [name] && found.unreadable.isEmpty)
    }

    @Test func `a scan catalogs what is there, and removes what is gone`() async throws {
        var takes: [TakeName] = []
        for number in 1...450 {
            takes.append(try disk.add(TakesOnDisk.sidecar(number, started: started(hours: number / 10))))
        }
        await tested.indexer.scanAll()
        #expect(try tested.stems() == takes.map(\.stem))
        for take in takes[..<440] { disk.remove(take) }
        for day in Set(takes[..<440].map(\.day)) { rmdir("\(disk.takes)/\(day)") }
        await tested.indexer.scanAll()
        #expect(try tested.stems() == takes[440...].map(\.stem))
        #expect(tested.log.lines == [])
    }

    @Test func `a take that was moved to an earlier day keeps its row in a scan of many takes`() async throws {
        let moved = try disk.add(TakesOnDisk.sidecar(1, started: started(hours: 240)))
        await tested.indexer.scanAll()
        func row() async throws -> [Int64] {
            try await tested.catalog.database.read { database in
                try Int64.fetchAll(database, sql: "SELECT id FROM take WHERE take = ?", arguments: [moved.stem])
            }
        }
        let before = try await row()
        mkdir("\(disk.takes)/2026-11-20", 0o755)
        for ending in ["json", "wav"] {
            let file = "\(moved.stem).\(ending)"
            #expect(rename("\(disk.takes)/\(moved.day)/\(file)", "\(disk.takes)/2026-11-20/\(file)") == 0)
        }
        // So many that it is being cataloged when its former day is read.
        for number in 2...210 { try disk.add(TakesOnDisk.sidecar(number)) }
        await tested.indexer.scanAll()
        #expect(try await row() == before && before.count == 1)
        #expect(try tested.catalog.find(.stem(moved.stem)).map(\.folder) == ["\(disk.takes)/2026-11-20"])
        #expect(try tested.catalog.counts().takes == 210)
    }

    @Test func `a take that is whole on one day and damaged on a later one has a problem`() async throws {
        let name = try disk.add(TakesOnDisk.sidecar(1))
        let later = "\(disk.takes)/2099-01-01"
        mkdir(later, 0o755)
        try disk.write(Array("{".utf8), to: "\(later)/\(name.stem).json")
        await tested.indexer.scanAll()
        #expect(tested.progress.problems.map(\.take) == [name.stem])
    }

    @Test func `a take is cataloged when its sidecar comes, replaced when it is revised, and removed when it goes`()
        async throws
    {
        await tested.indexer.scanAll()
        var sidecar = TakesOnDisk.sidecar(1)
        let take = try disk.add(sidecar)
        let day = "\(disk.takes)/\(take.day)"
        await tested.indexer.handle(.folder(in: disk.takes, name: take.day))
        #expect(try tested.stems() == [take.stem])
        sidecar.revision = 2
        try disk.add(sidecar)
        let event = TakesWatch.Event.sidecar(folder: day, file: "\(take.stem).json")
        await tested.indexer.handle(event)
        #expect(try tested.catalog.find(.stem(take.stem)).map(\.revision) == [2])
        disk.remove(take)
        await tested.indexer.handle(event)
        #expect(try tested.stems() == [])
    }

    @Test(arguments: ["notes.json", "STEM.json.tmp", "heron07-0001.json", ".json"])
    func `a file that is no sidecar is left alone`(_ name: String) async throws {
        mkdir("\(disk.takes)/2026-11-21", 0o755)
        try disk.write(Array("{}".utf8), to: "\(disk.takes)/2026-11-21/\(name)")
        await tested.indexer.scanAll()
        await tested.indexer.handle(.sidecar(folder: "\(disk.takes)/2026-11-21", file: name))
        await tested.indexer.handle(.sidecar(folder: "/elsewhere/2026-11-21", file: name))
        #expect(try tested.stems() == [])
        #expect(tested.log.lines == [])
    }

    @Test func `a damaged sidecar is reported, and the others are cataloged`() async throws {
        let good = try disk.add(TakesOnDisk.sidecar(1))
        let bad = try disk.add(TakesOnDisk.sidecar(2))
        let path = "\(disk.takes)/\(bad.day)/\(bad.stem).json"
        try disk.write(Array("{\"take\"".utf8), to: path)
        await tested.indexer.scanAll()
        #expect(try tested.stems() == [good.stem])
        #expect(tested.log.lines == ["library: read \(path): not a sidecar: not JSON"])
    }

    @Test func `a take whose files cannot be read is named until they are repaired`() async throws {
        let requests = tested.requests {}
        func problems() throws -> [String] {
            let status = try JSONValue(decoding: Array(requests.status().json.utf8))
            guard case .array(let problems)? = status["problems"] else { return ["none"] }
            return problems.map { "\($0["take"]?.text ?? "") \($0["problem"]?.text ?? "")" }
        }
        var takes: [TakeName] = []
        for number in 1...3 { takes.append(try disk.add(TakesOnDisk.sidecar(number))) }
        let (sidecar, notes) = (
            "\(disk.takes)/\(takes[0].day)/\(takes[0].stem).json", "\(disk.library)/takes/\(takes[1].stem).json"
        )
        let good = try FileSystem().contents(sidecar)
        try disk.write(Array("{".utf8), to: sidecar)
        try disk.write(Array("{\"take\":\"\(takes[1].stem)\",\"memo\":\"owl\",\"tags\":[7]}".utf8), to: notes)
        let wrong = [
            "\(takes[0].stem) read \(sidecar): not a sidecar: not JSON",
            "\(takes[1].stem) notes: \(notes): is used in part: tags.0 cannot be read",
        ]
        for _ in 0..<2 {
            await tested.indexer.scanAll()
            #expect(try tested.stems() == [takes[1].stem, takes[2].stem])
            #expect(try problems() == wrong)
        }
        #expect(try tested.catalog.find(.stem(takes[1].stem)).map(\.memo) == ["owl"])
        try disk.write(good, to: sidecar)
        await tested.indexer.handle(
            .sidecar(folder: "\(disk.takes)/\(takes[0].day)", file: "\(takes[0].stem).json"))
        #expect(try problems() == [wrong[1]])
        _ = try requests.change(.stem(takes[1].stem), [.starred(true)], for: "star")
        #expect(try problems() == [])
        await tested.indexer.scanAll()
        #expect(try problems() == [] && Set(tested.stems()) == Set(takes.map(\.stem)))
    }

    @Test func `a folder that vanishes is a storage that is out: its takes are elsewhere, and here again`() async throws
    {
        let take = try disk.add(TakesOnDisk.sidecar(1))
        await tested.indexer.scanAll()
        rename(disk.takes, disk.takes + ".out")
        await tested.indexer.handle(.mounts)
        #expect(try tested.catalog.find(.stem(take.stem)).map(\.place) == [.elsewhere])
        rename(disk.takes + ".out", disk.takes)
        await tested.indexer.handle(.folder(in: disk.path, name: "takes"))
        #expect(try tested.catalog.find(.stem(take.stem)).map(\.place) == [.here])
    }

    @Test func `a folder for takes that is made step by step is found`() async throws {
        let tested = try TestedIndexer(disk, roots: ["\(disk.path)/media/stick/takes"])
        await tested.indexer.scanAll()
        var events = tested.watch.events.makeAsyncIterator()
        for folder in ["media", "media/stick", "media/stick/takes"] {
            mkdir("\(disk.path)/\(folder)", 0o755)
            await tested.indexer.handle(try #require(await events.next()))
        }
        let take = try disk.add(TakesOnDisk.sidecar(1), in: "\(disk.path)/media/stick/takes")
        while try tested.stems() != [take.stem] {
            await tested.indexer.handle(try #require(await events.next()))
        }
    }

    @Test func `a database that is damaged while it is used is set aside, and filled again`() async throws {
        let take = try disk.add(TakesOnDisk.sidecar(1))
        await tested.indexer.scanAll()
        await tested.indexer.handle(.damaged)
        #expect(try tested.stems() == [])
        #expect(tested.log.lines.map { $0.hasPrefix("catalog: damaged: ") } == [true])
        for await event in tested.watch.events {
            await tested.indexer.handle(event)
            if event == .unknown { break }
        }
        #expect(try tested.stems() == [take.stem])
        #expect(access(Catalog.databasePath(in: disk.library) + ".damaged", F_OK) == 0)
    }

    @Test func `what the kernel reports reaches the catalog`() async throws {
        await tested.indexer.scanAll()
        let first = try disk.add(TakesOnDisk.sidecar(1))
        let second = try disk.add(TakesOnDisk.sidecar(2))
        for await event in tested.watch.events {
            await tested.indexer.handle(event)
            if try tested.stems() == [first.stem, second.stem] { break }
        }
        #expect(try tested.stems() == [first.stem, second.stem])
    }

    @Test func `what was noted of a take in a file that was put back is read again`() async throws {
        let take = try disk.add(TakesOnDisk.sidecar(1))
        await tested.indexer.scanAll()
        let text = "{\"schema\":1,\"take\":\"\(take.stem)\",\"memo\":\"from a backup\",\"tags\":[],\"starred\":true}"
        try disk.write(Array(text.utf8), to: "\(disk.library)/takes/\(take.stem).json")
        await tested.indexer.scanAll()
        #expect(try tested.catalog.find(.last).map(\.memo) == ["from a backup"])
    }
}
