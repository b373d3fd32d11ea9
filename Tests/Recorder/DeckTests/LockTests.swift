import Foundation
import Glibc
import Panel
import TakeFiles
import Takes
import TestBench
import Testing
import Transport

@testable import Deck

/// Only one process records in a folder, whatever happens to its lock file.
@Suite struct LockTests {
    /// The action of another program on the folder for takes.
    enum Deed: CaseIterable { case remove, replace, folder, link, moveAndBack }

    private func carryOut(_ deed: Deed, _ directory: String) throws {
        let lock = "\(directory)/.lock"
        switch deed {
        case .remove: #expect(unlink(lock) == 0)
        case .replace:
            #expect(unlink(lock) == 0)
            try Data("1\n".utf8).write(to: URL(fileURLWithPath: lock))
        case .folder:
            #expect(unlink(lock) == 0)
            #expect(mkdir(lock, 0o700) == 0)
        case .link:
            #expect(unlink(lock) == 0)
            #expect(symlink("elsewhere", lock) == 0)
        case .moveAndBack:
            #expect(rename(directory, directory + "-moved") == 0)
            #expect(rename(directory + "-moved", directory) == 0)
        }
    }

    @Test(arguments: Deed.allCases, [Duration.zero, .seconds(3)])
    func `no other process gets the folder while a take is recorded`(deed: Deed, since: Duration) throws {
        let rig = try Rig.recording(for: .seconds(2))
        try carryOut(deed, rig.directory)
        rig.run(since)
        #expect(throws: TakesLockError.self) { _ = try TakesDirectory(path: rig.directory) }
        rig.run(.seconds(3))
        #expect(rig.deck.status.faults == [])
        rig.press(.stop)
        rig.settle()
        let sidecar = try #require(try rig.sidecars().first)
        #expect(sidecar.parts.count == 1 && sidecar.gaps == [] && !sidecar.recovered)
    }

    @Test(arguments: Deed.allCases) func `nor while none is recorded`(deed: Deed) throws {
        let rig = try Rig()
        rig.run(.seconds(1))
        try carryOut(deed, rig.directory)
        rig.run(.seconds(3))
        #expect(throws: TakesLockError.self) { _ = try TakesDirectory(path: rig.directory) }
        #expect(rig.deck.isArmed && rig.deck.status.faults == [])
    }

    @Test func `a lock that another process got meanwhile is a fault until that is over, and the take goes on`() throws
    {
        let rig = try Rig.recording(for: .seconds(2))
        let lock = "\(rig.directory)/.lock"
        #expect(unlink(lock) == 0)
        let other = open(lock, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        #expect(flock(other, LOCK_EX | LOCK_NB) == 0)
        #expect(write(other, "4711\n", 5) == 5)
        rig.run(.seconds(3))
        #expect(rig.deck.state == .recording)
        #expect(rig.deck.status.faults.map(\.code) == [.storageFailing])
        #expect(rig.deck.status.faults.first?.message.contains("pid 4711 already does") == true)
        close(other)
        rig.run(.seconds(3))
        #expect(rig.deck.status.faults == [])
        rig.press(.stop)
        rig.settle()
        #expect(try rig.sidecars().first?.gaps == [])
        rig.run(.seconds(3))
        #expect(rig.deck.isArmed)
    }

    @Test(arguments: [false, true])
    func `a folder that was moved or removed is no other process's`(isMoved: Bool) throws {
        let rig = try Rig.recording(for: .seconds(2))
        let moved = rig.directory + "-moved"
        if isMoved {
            #expect(rename(rig.directory, moved) == 0)
        } else {
            try FileManager.default.removeItem(atPath: rig.directory)
        }
        rig.run(.seconds(8))
        #expect(rig.deck.state == .recording)
        let event = "\(rig.directory): it was moved or removed while a take is recorded"
        #expect(
            rig.deck.status.faults.contains { $0.message.contains(event) }, "\(rig.deck.status.faults.map(\.message))")
        #expect(rig.log.messages.allSatisfy { !$0.contains("already does") }, "\(rig.log.messages)")
        rig.press(.stop)
        rig.settle()
        rig.run(.seconds(5))
        #expect(rig.deck.isArmed && rig.deck.storage.directory != nil)
        #expect(try rig.sidecars().first?.gaps == [])
    }

    @Test func `a folder whose take lost its lock before a restart is opened again`() throws {
        let rig = try Rig.recording(for: .seconds(2))
        rig.press(.stop)
        rig.settle()
        rig.run(.seconds(2))
        #expect(unlink("\(rig.directory)/.lock") == 0)
        let copy = try rig.cut()
        #expect(try TakesDirectory(path: copy.path + "/takes").takes().count == 1)
    }
}
