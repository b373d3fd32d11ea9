import Catalog
import FinishedTakes
import Logging
import ServiceLifecycle
import Settings
import Takes
import Testing

@testable import Library

@Suite(.timeLimit(.minutes(1))) struct KeeperTests {
    @Test func `without a recorder no take is deleted, and that is logged once`() async throws {
        let tested = try TestedIndexer(stores: ["folder:home"])
        for number in 1...5 { try tested.disk.add(TakesOnDisk.sidecar(number), audioBytes: 44) }
        await tested.indexer.scanAll()
        for stem in try tested.stems() {
            _ = try tested.catalog.note(stem) { notes in
                var receipt = UploadReceipt(store: "folder:home")
                receipt.add(.init(file: "\(stem).wav", bytes: 44, sha256: String(repeating: "0", count: 64)))
                receipt.completed = TakesOnDisk.morning.iso8601
                receipt.revision = 1
                notes[receiptOf: receipt.store] = receipt
            }
        }
        #expect(try tested.catalog.sentTakes(limit: 10).count == 5)
        let log = tested.log
        let keeper = try Keeper(
            .untilUploaded, tested.catalogs, recorder: try RecorderLink(path: "\(tested.disk.path)/none.sock"),
            log: Logger(label: "test") { _ in log })
        keeper.look()
        let group = ServiceGroup(
            services: [keeper], logger: Logger(label: "services") { _ in SwiftLogNoOpLogHandler() })
        let running = Task { try await group.run() }
        while log.lines.isEmpty { await Task.yield() }
        await group.triggerGracefulShutdown()
        try await running.value
        #expect(log.lines.count == 1 && log.lines[0].hasPrefix("outbox: no take is deleted from the kit: control: "))
    }
}
