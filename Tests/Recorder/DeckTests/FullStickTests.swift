import Files
import Foundation
import Glibc
import Panel
import PowerCuts
import TakeFiles
import Takes
import TestBench
import Testing
import Transport

@testable import Deck

/// A full stick, in a kit with internal space.
@Suite final class FullStickTests {
    private let storage = StickStorage()
    private let folder = TestFolder()
    private var place: String { folder.path }

    private func rig() throws -> Rig { try storage.rig(in: place) }

    private func record(_ rig: Rig) throws {
        rig.press(.record)
        rig.run(.seconds(2))
        #expect(rig.deck.state == .recording)
        rig.press(.stop)
        rig.settle()
    }

    @Test func `a full stick is left for the room inside, and used again when it has room`() throws {
        let rig = try rig()
        storage.free = 1 << 20
        rig.run(.seconds(3))
        #expect(rig.deck.storage.directory?.path == rig.directory)
        #expect(rig.deck.isArmed)
        let fault = try #require(rig.deck.status.faults.first)
        #expect(fault.code == .diskFull)
        #expect(fault.message.hasSuffix(": takes are kept in \(rig.directory) instead of on the stick"))
        try record(rig)
        #expect(try rig.sidecars().map(\.number) == [1])
        // With only a little room the stick is not used again, because it would soon be full.
        storage.free = 1 << 20 + 100_000
        rig.run(.seconds(60))
        #expect(rig.deck.storage.directory?.path == rig.directory)
        #expect(rig.log.messages.filter { $0.contains("takes are kept in \(rig.directory)") }.count <= 3)
        storage.free = 100 << 20
        rig.run(.seconds(5))
        #expect(rig.deck.storage.directory?.path == "\(place)/stick/takes")
        #expect(rig.deck.isArmed)
    }

    @Test func `a take goes on inside when its stick is full`() throws {
        let rig = try rig()
        rig.press(.record)
        rig.run(.seconds(3))
        storage.free = 1 << 20
        rig.run(.seconds(3))
        #expect(rig.deck.state == .recording)
        #expect(rig.deck.status.faults.map(\.code) == [.diskFull])
        #expect(rig.deck.storage.directory?.path == rig.directory)
        rig.run(.milliseconds(985))
        rig.press(.stop)
        rig.settle()
        rig.run(.seconds(3))
        let inside = try #require(try rig.sidecars().first)
        #expect(inside.endedBy == .stop)
        let files = try FileManager.default.subpathsOfDirectory(atPath: "\(place)/stick/takes")
        let name = try #require(files.first { $0.hasSuffix(".json") })
        let bytes = try FileSystem().contents("\(place)/stick/takes/\(name)")
        let onStick = try SidecarFile.sidecar(bytes, path: name)
        #expect(onStick.endedBy == .diskFull)
        // No frame is missing between the two, and few are in both.
        let samples = try rig.samples(inside.parts[0].file, of: inside)
        let next = 5 * 8000 + Int(onStick.frames)
        let first = try #require(samples.first.map(Int.init))
        let overlap = next % 30_000 - first
        #expect(overlap >= 0 && overlap < 800, "\(overlap)")
    }

    @Test(arguments: [ENOSPC, EROFS]) func `a stick that takes no file is left too, and nothing flaps`(code: Int32)
        throws
    {
        let rig = try rig()
        storage.creating = code
        rig.press(.record)
        rig.run(.seconds(3))
        #expect(rig.deck.state == .recording)
        #expect(rig.deck.storage.directory?.path == rig.directory)
        rig.press(.stop)
        rig.settle()
        let changes = rig.log.messages.filter { $0.hasPrefix("storage: takes are kept") }.count
        if code == EROFS {
            rig.run(.seconds(120))
            #expect(rig.log.messages.filter { $0.hasPrefix("storage: takes are kept") }.count == changes)
        }
        #expect(try rig.sidecars().map(\.number) == [2] || rig.sidecars().map(\.number) == [1])
    }
}
