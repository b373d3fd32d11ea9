import Files
import Foundation
import Panel
import Takes
import Testing
import Transport

@testable import Deck

/// Obstacles to a take's beginning that arise between two checks of the storage.
@Suite struct RefusedBeginTests {
    @Test func `record on storage that became full or read-only just now is refused, and no number is lost`() throws {
        let storage = TroubledStorage()
        let rig = try Rig(files: FileSystem(calls: storage)) { $0.reserveBytes = 1 << 20 }
        rig.run(.milliseconds(4100))
        storage.free = 1 << 19
        #expect(rig.deck.isArmed)
        rig.press(.record)
        #expect(rig.deck.indication.answer?.kind == .refused)
        #expect(rig.deck.state != .recording)
        #expect(rig.deck.status.faults.map(\.code) == [.diskFull])
        storage.free = nil
        rig.run(.milliseconds(4100))

        storage.isReadOnly = true
        rig.press(.record)
        #expect(rig.deck.indication.answer?.kind == .refused)
        #expect(rig.deck.status.faults.map(\.code).contains(.storageFailing))
        storage.isReadOnly = false
        rig.run(.milliseconds(6000))
        rig.press(.record)
        rig.run(.milliseconds(985))
        rig.press(.stop)
        rig.settle()
        #expect(try rig.sidecars().map(\.number) == [1])
        let files = try FileManager.default.subpathsOfDirectory(atPath: rig.directory)
        #expect(!files.contains { $0.hasSuffix(".part") })
    }
}
