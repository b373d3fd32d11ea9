import Catalog
import DiskCalls
import Files
import FinishedTakes
import Foundation
import Glibc
import Logging
import Settings
import Takes
import Testing
import Transport
import Upload

@testable import Control
@testable import Library

/// Sticks that are offered, adopted, and recognised by their content.
@Suite(.waitsOnNamedThreads, .timeLimit(.minutes(15))) struct HomeStickTests {
    private let tested: TestedIndexer
    private let store: FolderStore
    private let stores: Stores
    private let desk: StickDesk
    private let board: OutboxBoard
    private let changes: AsyncStream<UploadState>

    init() throws {
        tested = try TestedIndexer(stores: ["stick"])
        let folder = "\(tested.disk.path)/stick"
        mkdir(folder, 0o755)
        let sticks = HomeSticks.open(in: tested.disk.library).0
        let store = try FolderStore(name: "stick", path: folder, kit: "heron07", followsLink: false, sticks: sticks)
        self.store = store
        stores = Stores([StorePlan(name: "stick", mount: folder, mayBePulled: true) { store }])
        let log = tested.log
        desk = try StickDesk(stores, tested.catalogs, log: Logger(label: "test") { _ in log })
        let (changes, changed) = AsyncStream.makeStream(of: UploadState.self)
        self.changes = changes
        board = OutboxBoard { changed.yield($0) }
    }

    private var onStick: [String] { (try? FileManager.default.subpathsOfDirectory(atPath: store.path)) ?? [] }
    private func counts() throws -> OutboxCounts { try tested.catalog.outboxCounts(of: "stick") }

    private func sender() throws -> Sender {
        let log = tested.log
        let sender = try Sender(
            stores.all[0], tested.catalogs, board: board, window: .always, reader: try DiskReader(name: "reader"),
            throttle: nil, sticks: desk, log: Logger(label: "test") { _ in log })
        desk.onAdopted { sender.post(.surroundings) }
        return sender
    }

    /// Runs a sender until `holds` is true, while another operation runs.
    private func run(
        until holds: (UploadState) throws -> Bool, beside body: (Sender) async throws -> Void = { _ in }
    ) async throws {
        let sender = try sender()
        let running = Task { try await sender.run() }
        try await body(sender)
        for await state in changes where try holds(state) { break }
        running.cancel()
        _ = try? await running.value
    }

    /// A take that was sent to the stick.
    private func sent(_ number: Int = 1) async throws -> KitCopy {
        _ = try await desk.adopt(by: "test")
        let name = try tested.disk.addSound(InspectedKit.sidecar(number)).name
        await tested.indexer.scanAll()
        try await run { _ in try counts().done == number }
        return try KitCopy(name, in: tested.disk.takes)
    }

    /// Removes the record of adopted sticks, as on a kit that lost it.
    private func forgotten() throws -> (FolderStore, StickDesk) {
        unlink("\(tested.disk.library)/sticks.json")
        let other = try FolderStore(
            name: "stick", path: store.path, kit: "heron07", sticks: HomeSticks.open(in: tested.disk.library).0)
        let log = tested.log
        return (
            other,
            try StickDesk(
                Stores([StorePlan(name: "stick") { other }]), tested.catalogs, log: Logger(label: "test") { _ in log })
        )
    }

    private func marks(_ store: FolderStore) async -> [StickMark] {
        if case .other(let marks) = await store.traits.stick?.standing() { marks } else { [] }
    }

    @Test func `an unknown stick is offered, gets nothing, and gets all once it is adopted`() async throws {
        _ = try tested.disk.addSound(InspectedKit.sidecar(1))
        await tested.indexer.scanAll()
        try await run { $0 == .stickOffered }
        #expect(onStick == [])
        let report = try OutboxRequests(board: board, post: { _ in }, mark: PauseMark(in: tested.disk.library))
            .report(tested.catalog, limit: 10).stores[0]
        #expect(report.state == .stickOffered && report.waiting == 1 && report.until == nil)
        #expect(
            report.why
                == "outbox: stick: this kit does not know the stick that is in, and sends nothing to it: 'fieldfare stick "
                + "adopt', a paired phone, or stop and play held for 3 s adopt it")
        #expect(tested.log.lines == [report.why ?? ""])
        try await run(until: { _ in try counts().done == 1 }) { _ in try await desk.adopt(by: "by 'fieldfare'") }
        let receipt = try #require(try tested.catalog.notes(of: "heron07-0001_20261121_061911")[receiptOf: "stick"])
        let mark = try #require(receipt.stick.flatMap { StickMark($0) })
        #expect(await store.traits.stick?.standing() == .home(mark))
        #expect(tested.log.lines.contains("stick \(mark.short): adopted by 'fieldfare'"))
    }

    @Test func `it is offered also while nothing waits, and no more once it is pulled`() async throws {
        let (folder, away) = (store.path, store.path + ".away")
        var sender: Sender?
        var isPulled = false
        try await run(
            until: { state in
                if state == .stickOffered, !isPulled {
                    isPulled = rename(folder, away) == 0
                    sender?.post(.surroundings)
                }
                return isPulled && state == .idle
            }, beside: { sender = $0 })
        #expect(isPulled && onStick == [])
    }

    @Test func `adopting without a stick, or where no stick is used, is refused with what to do`() async throws {
        #expect(rename(store.path, store.path + ".away") == 0)
        await #expect(
            throws: Refusal(
                .notFound, "stick: none is in that has a folder named fieldfare: insert it, or make the folder")
        ) { _ = try await desk.adopt(by: "test") }
        await #expect(
            throws: Refusal(.busy, "stick: takes are not sent to sticks: name \"auto\" under [outbox] store")
        ) { _ = try await tested.sticks.adopt(by: "test") }
    }

    @Test(arguments: [true, false])
    func `a stick with a take that this kit sent is home by itself, whether its receipt names the stick or none`(
        isNamed: Bool
    ) async throws {
        let copy = try await sent()
        if !isNamed {
            _ = try tested.catalog.note(copy.take.stem) { $0[receiptOf: "stick"]?.stick = nil }
        }
        let (other, desk) = try forgotten()
        #expect(await desk.recognise(await marks(other)))
        guard case .home = await other.traits.stick?.standing() else { return #expect(Bool(false)) }
        #expect(tested.log.lines.last?.hasSuffix("as it has \(copy.take.stem), which this kit sent") == true)
    }

    enum Difference: CaseIterable { case otherStick, sound, sidecar, soundGone, noReceipt }

    @Test(arguments: Difference.allCases)
    func `a stick whose takes are not as a receipt of this stick says is offered`(difference: Difference) async throws {
        let copy = try await sent()
        let there = "\(store.path)/\(copy.take.day)/\(copy.take.stem)"
        switch difference {
        case .otherStick:
            _ = try tested.catalog.note(copy.take.stem) {
                $0[receiptOf: "stick"]?.stick = String(repeating: "0", count: 32)
            }
        case .sound, .sidecar:
            let path = there + (difference == .sound ? ".wav" : ".json")
            var bytes = try FileSystem().contents(path, limit: 1 << 30)
            bytes[bytes.count - 2] ^= 1
            try tested.disk.write(bytes, to: path)
        case .soundGone: unlink(there + ".wav")
        case .noReceipt: _ = try tested.catalog.note(copy.take.stem) { $0.receipts = [] }
        }
        let (other, desk) = try forgotten()
        #expect(await !desk.recognise(await marks(other)))
        guard case .other = await other.traits.stick?.standing() else { return #expect(Bool(false)) }
    }

    @Test func `a take whose stick is out is neither missed nor looked for on another`() async throws {
        let copy = try await sent()
        let copies = try RemoteCopies(stores, tested.catalogs)
        let notes = try tested.catalog.notes(of: copy.take.stem)
        #expect(try await copies.storesWithout(copy, notes).isEmpty)
        // An unknown stick may be the one that lost its mark.
        #expect(rename(store.path, store.path + ".first") == 0)
        mkdir(store.path, 0o755)
        await #expect(throws: StoreError.self) { _ = try await copies.storesWithout(copy, notes) }
        try await desk.adopt(by: "test")
        #expect(try await copies.storesWithout(copy, notes).isEmpty)
        // The same with a damaged copy: this may be the first stick, which lost its mark and was adopted again.
        mkdir("\(store.path)/\(copy.take.day)", 0o755)
        for ending in ["json", "wav"] {
            try tested.disk.write([1, 2, 3], to: "\(store.path)/\(copy.take.day)/\(copy.take.stem).\(ending)")
        }
        #expect(try await copies.storesWithout(copy, notes) == ["stick"])
        // The first stick again, without its sound.
        #expect(rename(store.path, store.path + ".second") == 0 && rename(store.path + ".first", store.path) == 0)
        unlink("\(store.path)/\(copy.take.day)/\(copy.take.stem).wav")
        #expect(try await copies.storesWithout(copy, notes) == ["stick"])
    }

    @Test func `a stick that has lost its mark, or whose mark cannot be read, proves nothing`() async throws {
        let copy = try await sent()
        let copies = try RemoteCopies(stores, tested.catalogs)
        let mark = "\(store.path)/.stick.json"
        for hasReceipt in [true, false] {
            if !hasReceipt { _ = try tested.catalog.note(copy.take.stem) { $0[receiptOf: "stick"]?.stick = nil } }
            let notes = try tested.catalog.notes(of: copy.take.stem)
            #expect(rename(mark, mark + ".lost") == 0)
            await #expect(throws: StoreError.self) { _ = try await copies.storesWithout(copy, notes) }
            #expect(rename(mark + ".lost", mark) == 0)
            #expect(try await copies.storesWithout(copy, notes).isEmpty)
        }
    }

    @Test func `a take on another stick than the one that is in is not deleted everywhere, nor verified there`()
        async throws
    {
        let copy = try await sent()
        let copies = try RemoteCopies(stores, tested.catalogs)
        #expect(rename(store.path, store.path + ".first") == 0)
        mkdir(store.path, 0o755)
        try await desk.adopt(by: "test")
        let receipt = try #require(try tested.catalog.notes(of: copy.take.stem)[receiptOf: "stick"]?.stick)
        await #expect(
            throws: Refusal(
                .busy,
                "delete: \(copy.take.stem): it is on the stick \(receipt.prefix(8)), and another one is in: put that one in, or delete "
                    + "the take on the kit alone")
        ) { try await copies.deleteEverywhere(copy, in: nil, leavesKit: true) }
        let peer = PeerID(key: 1)
        let remote = try RemoteDesk(stores, tested.catalogs, copies)
        #expect(try await remote.answer(.sent(store: nil, path: nil), of: peer).objects == [])
    }

    @Test func `adopting at once is one adoption, and what is in the way is named`() async throws {
        let path = "\(store.path)/.stick.json"
        #expect(symlink("/etc/passwd", path + ".tmp") == 0)
        let results = try await withThrowingTaskGroup(of: Bool.self) { group in
            for _ in 1...8 { group.addTask { [desk] in try await desk.adopt(by: "test").isNew } }
            return try await group.reduce(into: 0) { $0 += $1 ? 1 : 0 }
        }
        #expect(results == 1 && tested.log.lines.count == 1)
        unlink(path)
        mkdir(path, 0o755)
        await #expect(
            throws: Refusal(
                .io,
                "stick: not adopted: rename \(path).tmp: Is a directory: remove the folder of that name")
        ) { try await desk.adopt(by: "test") }
    }

    @Test func `stop and play are waited for as long as a stick is offered`() async throws {
        let path = "\(tested.disk.path)/recorder.sock"
        let recorder = try DeskRecorder(path, event: #"{"event":"panel","what":"adopt-stick"}"#)
        let (asked, ask) = AsyncStream.makeStream(of: Void.self)
        let watch = StickWatch(path: path) { ask.yield() }
        let running = Task { try await watch.run() }
        watch.show(.sending)
        watch.show(.stickOffered)
        #expect(await recorder.next() == .watch(levels: false, peaks: false))
        #expect(await asked.first { true } != nil)
        watch.show(.idle)
        watch.show(.stickOffered)
        running.cancel()
        recorder.stop()
        _ = try? await running.value
    }
}
