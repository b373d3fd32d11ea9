import Files
import Foundation
import Panel
import Takes
import TestBench
import Testing
import Transport

@testable import Deck

/// The folder for takes goes away, comes back or is replaced while nothing is recorded.
@Suite struct StoragePlaceTests {
    let storage = TroubledStorage()

    func rig(in folder: TestFolder = TestFolder()) throws -> Rig {
        try Rig(files: FileSystem(calls: storage), in: folder)
    }

    func record(_ rig: Rig) {
        rig.press(.record)
        rig.run(.seconds(2))
        rig.press(.stop)
        rig.settle()
    }

    @Test func `a folder that was removed is made again, and takes are recorded in it`() throws {
        let rig = try rig()
        rig.run(.milliseconds(500))
        record(rig)
        try FileManager.default.removeItem(atPath: rig.directory)
        rig.run(.milliseconds(2100))
        #expect(rig.deck.status.faults == [])
        #expect(rig.deck.status.selected == nil)
        record(rig)
        #expect(try rig.sidecars().count == 1)
    }

    @Test func `a day that cannot be read is reported once, and the kit records`() throws {
        let folder = TestFolder()
        folder.makeFolder("takes/2026-11-20")
        storage.unreadable = "/2026-11-20"
        let rig = try rig(in: folder)
        rig.run(.seconds(5))
        #expect(rig.deck.isArmed)
        record(rig)
        #expect(try rig.sidecars().map(\.number) == [1])
        rig.run(.seconds(5))
        #expect(
            rig.log.messages.filter { $0.hasPrefix("storage:") } == [
                "storage: passed over: open \(rig.directory)/2026-11-20: Input/output error: "
                    + "the storage is failing, replace it"
            ])
    }

    @Test func `a card in the place of another is recorded to, and its takes are those there are`() throws {
        let rig = try rig()
        rig.run(.milliseconds(500))
        record(rig)
        let other = rig.directory + "-other"
        try FileManager.default.moveItem(atPath: rig.directory, toPath: other)
        storage.card = 2
        rig.run(.milliseconds(2100))
        #expect(rig.deck.isArmed)
        #expect(rig.deck.status.selected == nil)
        record(rig)
        #expect(try rig.sidecars().map(\.number) == [1])
        try FileManager.default.removeItem(atPath: rig.directory)
        try FileManager.default.moveItem(atPath: other, toPath: rig.directory)
        storage.card = 1
        rig.run(.milliseconds(2100))
        record(rig)
        #expect(try rig.sidecars().map(\.number) == [1, 2])
    }

    @Test func `takes that were on a card are not recorded beside its mount point while it is out`() throws {
        let rig = try rig()
        rig.run(.milliseconds(500))
        storage.card = 0
        rig.run(.milliseconds(2100))
        #expect(rig.deck.state == .fault)
        #expect(rig.deck.status.faults.map(\.code) == [.storageFailing])
        #expect(
            rig.deck.status.faults[0].message.hasSuffix("see that it was not deleted, and that its storage is mounted"))
        rig.press(.record)
        rig.run(.seconds(1))
        #expect(rig.deck.state == .fault)
        storage.card = 1
        rig.run(.milliseconds(2100))
        #expect(rig.deck.isArmed)
        #expect(rig.deck.status.faults == [])
    }

    @Test func `read-only storage is reported before a take is recorded, and works once it is writable`() throws {
        let rig = try rig()
        rig.run(.milliseconds(500))
        storage.isReadOnly = true
        rig.run(.milliseconds(2100))
        #expect(!rig.deck.isArmed)
        #expect(rig.deck.status.faults.map(\.code) == [.storageFailing])
        #expect(rig.deck.status.faults[0].message.contains("Read-only file system"))
        storage.isReadOnly = false
        rig.run(.milliseconds(2100))
        #expect(rig.deck.isArmed)
        #expect(rig.deck.status.faults == [])
    }

    @Test func `storage that failed a take is suspect until it takes something, and the take is recovered then`() throws
    {
        let rig = try rig()
        rig.run(.milliseconds(1000))
        rig.press(.record)
        rig.run(.seconds(3))
        storage.code = EIO
        rig.run(.seconds(5))
        #expect(rig.deck.state == .fault)
        #expect(!rig.deck.isArmed)
        #expect(rig.deck.status.faults.map(\.code) == [.storageFailing])
        #expect(try rig.sidecars() == [])
        storage.code = nil
        rig.run(.seconds(3))
        #expect(rig.deck.isArmed)
        #expect(rig.deck.status.faults == [])
        let sidecar = try #require(try rig.sidecars().first)
        #expect(sidecar.recovered)
        #expect(sidecar.endedBy == .storageError)
        #expect(sidecar.frames > 8 * 2000)
        let samples = try rig.samples(sidecar.parts[0].file, of: sidecar)
        #expect(difference(samples, 8000..<8000 + Int(sidecar.frames)) == nil)
        #expect(rig.deck.status.selected == sidecar.take)
    }

    @Test(arguments: [false, true])
    func `a stick that cannot be written is named, and takes are kept inside`(isArchivistLate: Bool) throws {
        let folder = TestFolder()
        let place = folder.path
        let rig = try Rig { $0.stick = Stick(mountPoint: "\(place)/stick", isOptional: true) }
        rig.run(.seconds(3))
        #expect(rig.deck.isArmed)
        #expect(rig.deck.status.faults == [])
        // A file system in which nobody can make a folder.
        try FileManager.default.createSymbolicLink(atPath: "\(place)/stick", withDestinationPath: "/proc")
        // The archivist releases the folder inside late.
        rig.stuck = isArchivistLate ? [.archivist] : []
        rig.run(.milliseconds(2500))
        rig.stuck = []
        rig.run(.milliseconds(2500))
        #expect(rig.deck.isArmed)
        let fault = try #require(rig.deck.status.faults.first)
        #expect(fault.code == .storageFailing)
        #expect(fault.message.hasPrefix("storage: make folder \(place)/stick/takes: "))
        #expect(fault.message.hasSuffix(": takes are kept in \(rig.directory) instead of on the stick"))
        #expect(!rig.log.messages.contains { $0.contains("already does") })
        record(rig)
        #expect(try rig.sidecars().map(\.number) == [1])
        rig.run(.seconds(60))
        #expect(rig.deck.status.faults == [])
    }
}
