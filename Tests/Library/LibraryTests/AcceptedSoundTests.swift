import Catalog
import DiskCalls
import Files
import FinishedTakes
import Foundation
import TakeFiles
import TakePlaces
import Takes
import Testing
import Upload

@testable import Library

/// Takes that were sent as accepted by a person, and changed afterwards.
@Suite(.waitsOnNamedThreads, .timeLimit(.minutes(15))) final class AcceptedSoundTests: InspectedKit {
    /// Sends a take with a damaged file that was accepted.
    private func accepted(_ sidecar: Sidecar, _ damage: (TakeName) throws -> Void) async throws -> TakeName {
        let name = try tested.disk.addSound(sidecar).name
        try damage(name)
        await tested.indexer.scanAll()
        await #expect(throws: StoreError.self) { try await inspector.check(name, in: tested.disk.takes, .changed) }
        try await inspector.accept(name, in: tested.disk.takes)
        try await send { try counts().done == 1 }
        return name
    }

    private func isSame(_ file: String, _ name: TakeName) throws -> Bool {
        try FileSystem().contents("\(day)/\(file)", limit: 1 << 30)
            == FileSystem().contents("\(tested.disk.path)/home/\(name.day)/\(file)", limit: 1 << 30)
    }

    @Test(arguments: ["", "-raw"])
    func `sound that is put right replaces at home what was sent as accepted`(twin: String) async throws {
        func file(_ name: TakeName) -> String { name.stem.file("\(twin).wav") }
        let name = try await accepted(Self.sidecar(1, hasTwin: true)) { name in
            try spoil(file(name)) { $0[1000] ^= 2 }
        }
        #expect(try isSame(file(name), name))
        // In between, there is other damage, which nobody accepted.
        try spoil(file(name)) { $0[2000] ^= 2 }
        await #expect(throws: StoreError.self) { try await inspector.check(name, in: tested.disk.takes, .all) }
        #expect(try counts().done == 0 && tested.catalog.sentTakes(limit: 9).isEmpty)
        try spoil(file(name)) { bytes in for place in [1000, 2000] { bytes[place] ^= 2 } }
        try await inspector.check(name, in: tested.disk.takes, .all)
        #expect(try counts().waiting == 1)
        try await send { try counts().done == 1 }
        #expect(try isSame(file(name), name))
        let path = "\(tested.disk.path)/home/\(name.day)/\(name.stem).json"
        let sent = try SidecarFile.sidecar(FileSystem().contents(path), path: path)
        #expect(sent.acceptedSHA256(of: file(name)) == nil)
        #expect(try tested.catalog.sentTakes(limit: 9).map(\.take) == [name])
    }

    @Test func `what is put right while nothing runs is sent by itself`() async throws {
        let name = try await accepted(Self.sidecar(1)) { name in try spoil("\(name.stem).wav") { $0[1000] ^= 2 } }
        try spoil("\(name.stem).wav") { $0[1000] ^= 2 }
        let wishes = Locked(0)
        inspector.onFree { wishes.withLock { $0 += 1 } }
        try await inspector.check(name, in: tested.disk.takes, .all)
        #expect(try counts().waiting == 1 && wishes.withLock { $0 } == 1)
        try await inspector.check(name, in: tested.disk.takes, .all)
        #expect(wishes.withLock { $0 } == 1)
    }

    @Test func `a part that was accepted as missing and is found is sent`() async throws {
        var found: [UInt8] = []
        let name = try await accepted(Self.sidecar(1, parts: 2)) { name in
            let path = "\(day)/\(name.stem.file("-p2.wav"))"
            found = try FileSystem().contents(path, limit: 1 << 30)
            unlink(path)
        }
        try tested.disk.write(found, to: "\(day)/\(name.stem.file("-p2.wav"))")
        try await inspector.check(name, in: tested.disk.takes, .all)
        #expect(try counts().waiting == 1)
        try await send { try counts().done == 1 }
        #expect(try isSame(name.stem.file("-p2.wav"), name))
    }

    @Test func `sound that is damaged further, and accepted again, replaces nothing`() async throws {
        let name = try await accepted(Self.sidecar(1)) { name in try spoil("\(name.stem).wav") { $0[1000] ^= 2 } }
        let path = "\(tested.disk.path)/home/\(name.day)/\(name.stem).wav"
        let sent = try FileSystem().contents(path, limit: 1 << 30)
        try spoil("\(name.stem).wav") { $0[2000] ^= 2 }
        await #expect(throws: StoreError.self) { try await inspector.check(name, in: tested.disk.takes, .all) }
        try await inspector.accept(name, in: tested.disk.takes)
        try await send { try counts().held == 1 }
        #expect(try FileSystem().contents(path, limit: 1 << 30) == sent)
        #expect(try tested.catalog.sentTakes(limit: 9).isEmpty)
    }
}
