import Files
import Foundation
import Glibc
import Panel
import Takes
import TestBench
import Testing
import Transport
import Workers

@testable import Deck

@Suite struct ArchivistTests {
    /// A folder with a take that a power cut interrupted.
    func cutTake(bootID: String = "other boot") throws -> TestFolder {
        let rig = try Rig { $0.bootID = bootID }
        rig.run(.milliseconds(1000))
        rig.press(.record)
        rig.run(.seconds(3))
        return try rig.cut()
    }

    @Test func `what a cut left is a take without a command, and the last one plays`() throws {
        let rig = try Rig(in: try cutTake())
        rig.turn()
        let sidecar = try #require(try rig.sidecars().first)
        #expect(sidecar.recovered)
        #expect(sidecar.endedBy == .powerCut)
        #expect(sidecar.frames > 8 * 2000)
        #expect(rig.deck.status.selected == sidecar.take)
        #expect(rig.log.messages.contains { $0.hasPrefix("recover: \(sidecar.take): ") })
        rig.press(.record)
        rig.run(.seconds(1))
        rig.press(.stop)
        rig.settle()
        #expect(try rig.sidecars().map(\.number) == [1, 2])
    }

    @Test func `what cannot be recovered is reported once, and tried again once the storage has changed`() throws {
        let storage = TroubledStorage()
        storage.unreadable = ".wav.part"
        let rig = try Rig(files: FileSystem(calls: storage), in: try cutTake())
        func reports() -> Int { rig.log.messages.filter { $0.hasPrefix("recover: ") }.count }
        rig.run(.seconds(60))
        #expect(reports() == 1)
        // Once when the folder is opened, and twice during the recovery.
        #expect(storage.readsRefused == 3)
        #expect(rig.deck.isArmed)
        #expect(rig.deck.status.faults == [])
        storage.statusCode = EIO
        rig.run(.milliseconds(2100))
        storage.unreadable = nil
        #expect(try rig.sidecars().count == 0)
        storage.statusCode = nil
        rig.run(.seconds(5))
        let sidecar = try #require(try rig.sidecars().first)
        #expect(sidecar.endedBy == .powerCut)
        #expect(storage.readsRefused == 3)
        #expect(reports() == 2)
    }

    @Test
    func `storage that takes nothing while a take is to be recovered is reported, and it is recovered once it does`()
        throws
    {
        let storage = TroubledStorage()
        let rig = try Rig(files: FileSystem(calls: storage), in: try cutTake(), stuck: [.archivist])
        storage.code = EIO
        rig.stuck = []
        rig.run(.seconds(20))
        #expect(!rig.deck.isArmed)
        #expect(rig.deck.status.faults.map(\.code) == [.storageFailing])
        #expect(rig.log.messages.filter { $0.hasPrefix("recover: ") }.count == 1)
        storage.code = nil
        rig.run(.seconds(5))
        #expect(rig.deck.isArmed)
        #expect(rig.deck.status.faults == [])
        #expect(try rig.sidecars().map(\.recovered) == [true])
    }

    @Test func `a take whose draft cannot be read is recovered by its heads, which is reported`() throws {
        let storage = TroubledStorage()
        storage.unreadable = ".json.part"
        let rig = try Rig(files: FileSystem(calls: storage), in: try cutTake())
        rig.run(.seconds(5))
        let sidecar = try #require(try rig.sidecars().first)
        #expect(sidecar.endedBy == .unknown)
        let path = "\(rig.directory)/2026-11-21/\(sidecar.take).json.part"
        #expect(
            rig.log.messages.filter { $0.hasPrefix("recover: ") }.first
                == "recover: \(sidecar.take): only its sound is known: open \(path): Input/output error: "
                + "the storage is failing, replace it: kept as \(sidecar.take).json.part.unread")
        #expect(FileManager.default.fileExists(atPath: path + ".unread"))
    }

    @Test func `sound that cannot be read is recovered as it is, which is reported`() throws {
        let storage = TroubledStorage()
        storage.isSoundUnreadable = true
        let rig = try Rig(files: FileSystem(calls: storage), in: try cutTake())
        rig.run(.seconds(5))
        let sidecar = try #require(try rig.sidecars().first)
        #expect(sidecar.frames > 8 * 2000)
        #expect(sidecar.levels == [])
        let report = "recover: \(sidecar.take): not all of its sound can be read: "
        #expect(rig.log.messages.contains { $0.hasPrefix(report) })
    }

    @Test func `a recorder that crashed in this boot left a take that says so`() throws {
        let rig = try Rig(in: try cutTake(bootID: "boot"))
        rig.turn()
        #expect(try rig.sidecars().first?.endedBy == .crash)
    }

    @Test func `a take that is recorded meanwhile is left to the writer`() throws {
        let rig = try Rig(in: try cutTake())
        rig.press(.record)
        rig.run(.seconds(3))
        #expect(rig.deck.state == .recording)
        rig.press(.stop)
        rig.settle()
        let sidecars = try rig.sidecars()
        #expect(sidecars.map(\.recovered) == [true, false])
        #expect(sidecars[1].endedBy == .stop)
    }

    @Test func `a take that waited for the folder is left to the writer, however soon that makes its files`() throws {
        let rig = try Rig(stuck: [.storage])
        rig.run(.milliseconds(500))
        rig.press(.record)
        rig.press(.record)
        // The writer continues while the deck is still handling the opened folder.
        rig.log.onReport = { if $0.hasPrefix("mark: ") { _ = rig.workers.writer.step() } }
        rig.stuck = []
        rig.run(.seconds(3))
        #expect(rig.log.messages.contains { $0.hasPrefix("mark: ") })
        #expect(rig.deck.state == .recording)
        rig.press(.stop)
        rig.settle()
        #expect(try rig.sidecars().map(\.endedBy) == [.stop])
        #expect(!rig.log.messages.contains { $0.hasPrefix("recover: ") })
    }

    @Test func `finished takes become FLAC where that is set, beside a take too, unless that waits for the storage`()
        throws
    {
        let rig = try Rig { $0.convertsToFLAC = true }
        var isBusyAtEnds: [Bool] = []
        rig.log.onReport = { [unowned deck = rig.deck] in
            if $0.hasPrefix("convert: ") { isBusyAtEnds.append(deck.isArchiving) }
        }
        rig.run(.milliseconds(1000))
        rig.press(.record)
        rig.run(.seconds(1))
        rig.press(.stop)
        // The next take begins before this one is finished.
        rig.press(.record)
        rig.stuck = [.archivist]
        rig.run(.seconds(2))
        #expect(rig.deck.state == .recording)
        let first = try #require(try rig.sidecars().first)
        #expect(first.pendingFormat == "flac")
        #expect(first.parts[0].file.hasSuffix(".wav"))
        rig.stuck = []
        rig.run(.seconds(1))
        #expect(try rig.sidecars().first?.pendingFormat == nil)
        rig.press(.stop)
        rig.settle()
        rig.turn()
        #expect(isBusyAtEnds == [true, true] && !rig.deck.isArchiving)
        for sidecar in try rig.sidecars() {
            #expect(sidecar.pendingFormat == nil)
            #expect(sidecar.revision == 2)
            #expect(sidecar.parts[0].file.hasSuffix(".flac"))
        }
        let samples = try rig.samples(try rig.sidecars()[0].parts[0].file, of: first)
        #expect(difference(samples, 8000..<8000 + Int(first.frames)) == nil)
    }

    @Test func `a conversion that the storage did not take is done once it is well again`() throws {
        let storage = TroubledStorage()
        let rig = try Rig(files: FileSystem(calls: storage)) { $0.convertsToFLAC = true }
        rig.run(.milliseconds(1000))
        rig.press(.record)
        rig.run(.seconds(1))
        rig.press(.stop)
        rig.stuck = [.archivist]
        rig.run(.milliseconds(500))
        storage.code = EROFS
        storage.isReadOnly = true
        rig.stuck = []
        rig.run(.seconds(5))
        #expect(try rig.sidecars().first?.pendingFormat == "flac")
        #expect(!rig.deck.isArmed)
        storage.code = nil
        storage.isReadOnly = false
        rig.run(.seconds(5))
        #expect(rig.deck.isArmed)
        #expect(try rig.sidecars().first?.pendingFormat == nil)
    }

    @Test func `a conversion that was not done is done after the next start, whatever is set then`() throws {
        let storage = TroubledStorage()
        let before = try Rig(files: FileSystem(calls: storage)) { $0.convertsToFLAC = true }
        storage.refused = ".flac.part"
        before.run(.milliseconds(1000))
        before.press(.record)
        before.run(.seconds(1))
        before.press(.stop)
        before.settle()
        before.turn()
        #expect(try before.sidecars().first?.pendingFormat == "flac")
        let after = try Rig(in: before.cut())
        after.turn()
        #expect(try after.sidecars().first?.pendingFormat == nil)
        #expect(try after.sidecars().first?.parts[0].file.hasSuffix(".flac") ?? false)
    }
}
