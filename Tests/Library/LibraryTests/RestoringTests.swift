import Catalog
import Control
import DiskCalls
import FinishedTakes
import TakeFiles
import Takes
import Testing
import Transport

@testable import Library

@Suite(.waitsOnNamedThreads, .timeLimit(.minutes(15))) struct RestoringTests {
    private let tested: TestedIndexer
    private var disk: TakesOnDisk { tested.disk }
    private let moment = BinMoment(
        Instant(nanoseconds: 0), wall: TakesOnDisk.morning, origin: .ntp, bootID: "boot")

    init() throws { tested = try TestedIndexer() }

    @Test func `a take in the bin is in no list, and restored it has its notes again`() async throws {
        let take = try disk.add(TakesOnDisk.sidecar(1))
        try disk.add(TakesOnDisk.sidecar(2))
        await tested.indexer.scanAll()
        _ = try tested.catalog.note(take.stem) { $0.memo = "at the weir" }
        let directory = try TakesDirectory(path: disk.takes)
        try directory.moveToBin(take, at: moment)
        await tested.indexer.scanAll()
        #expect(try tested.stems().count == 1 && !tested.stems().contains(take.stem))
        try directory.restore(take)
        await tested.indexer.scanAll()
        #expect(try tested.stems().contains(take.stem))
        #expect(try tested.catalog.find(.stem(take.stem)).first?.memo == "at the weir")
    }

    @Test func `the recorder is asked to restore a take, and what it says is passed on`() async throws {
        let socket = "\(disk.path)/recorder.sock"
        let requests = tested.requests {}
        let deletion = try tested.deletion(requests, recorder: socket)
        let take = try disk.add(TakesOnDisk.sidecar(1))
        await tested.indexer.scanAll()
        await #expect(throws: ControlError.self) { try await deletion.restore(take.stem) }
        await #expect(throws: Refusal(.notFound, "restore: ..: no such take in the bin")) {
            try await deletion.restore("..")
        }
        let recorder = try DeskRecorder(socket)
        defer { recorder.stop() }
        try await deletion.restore(take.stem)
        #expect(await recorder.next() == .command(.restore(stem: take.stem, day: nil)))
        try await deletion.delete(take.stem, Deletion(.here, isFinal: true))
        guard case .command(.discard(take.stem, let terms)) = await recorder.next() else {
            return #expect(Bool(false))
        }
        #expect(terms.isFinal)
    }
}
