import Files
import Foundation
import Glibc
import Panel
import Takes
import Testing
import Transport

@testable import Deck

/// Takes that could not be finished and wait for recovery.
@Suite struct LeftBehindTests {
    private func files(_ rig: Rig, _ part: String) throws -> [String] {
        try FileManager.default.subpathsOfDirectory(atPath: rig.directory).filter { $0.contains(part) }
    }

    /// A 3 s take in progress, and another program's file with its final name.
    private func blockedTake(_ storage: TroubledStorage, _ configure: (inout DeckOptions) -> Void = { _ in }) throws
        -> (Rig, file: String)
    {
        let rig = try Rig.recording(for: .seconds(3), files: FileSystem(calls: storage), configure)
        let part = try #require(try files(rig, ".wav.part").first)
        let file = "\(rig.directory)/\(part.dropLast(5))"
        try Data("mine".utf8).write(to: URL(fileURLWithPath: file))
        return (rig, file)
    }

    @Test func `a sync that fails at a cut ends the take, and no files of the next one are made`() throws {
        let storage = TroubledStorage()
        let rig = try Rig.recording(for: .milliseconds(4600), files: FileSystem(calls: storage)) {
            $0.rules.newTakeEvery = .seconds(5)
        }
        rig.isSyncStalled = true
        rig.run(.milliseconds(200))
        storage.soundSyncs = EIO
        rig.run(.seconds(2))
        #expect(rig.deck.state != .recording)
        #expect(try files(rig, "-0002-") == [])
        storage.soundSyncs = nil
        rig.isSyncStalled = false
        rig.run(.seconds(70))
        #expect(try rig.sidecars().map(\.number) == [1])
    }

    @Test func `a take that was cut and could not be finished is no take yet, if the next one fails as well`() throws {
        let storage = TroubledStorage()
        let (rig, file) = try blockedTake(storage) { $0.rules.newTakeEvery = .seconds(10) }
        rig.run(.milliseconds(6800))
        storage.whileCreating = { storage.soundWrites = EIO }
        // The silence for lost frames continues in the next take.
        rig.card.overrun(for: .milliseconds(600))
        rig.run(.seconds(2))
        #expect(rig.deck.state != .recording)
        #expect(try rig.sidecars() == [])
        #expect(rig.deck.status.selected == nil)
        #expect(rig.deck.status.faults.contains { $0.message.contains(file) && $0.message.contains("move that") })
        storage.soundWrites = nil
        try FileManager.default.removeItem(atPath: file)
        rig.run(.seconds(1))
        _ = try recordTake(rig)
        rig.run(.seconds(5))
        let sidecar = try #require(try rig.sidecars().first)
        #expect(sidecar.number == 1 && sidecar.recovered && sidecar.frames > 8 * 9500)
    }

    @Test
    func `a take that is left says what is in its way, is not searched for ever, and is recovered after the next`()
        throws
    {
        let storage = TroubledStorage()
        let (rig, file) = try blockedTake(storage)
        rig.press(.stop)
        rig.run(.seconds(70), step: .seconds(1))
        let line = try #require(rig.log.messages.last { $0.contains("left where it is") })
        #expect(line.contains("\(file) has the name that its sound is to get") && line.contains("move that"))
        #expect(!line.contains("fsck"))
        let listings = storage.listings
        rig.run(.seconds(600), step: .seconds(1))
        // Each minute only its own day is listed.
        #expect(storage.listings - listings <= 30)
        try FileManager.default.moveItem(atPath: file, toPath: file + ".mine")
        rig.press(.record)
        rig.run(.seconds(1))
        rig.press(.stop)
        rig.settle()
        rig.run(.seconds(5))
        let sidecars = try rig.sidecars()
        #expect(sidecars.map(\.number) == [1, 2] && sidecars[0].recovered)
    }

    @Test func `what was left of a take that is gone is not searched for ever`() throws {
        let storage = TroubledStorage()
        let rig = try Rig.recording(for: .seconds(3), files: FileSystem(calls: storage))
        storage.code = EIO
        rig.run(.seconds(3))
        for file in try files(rig, "-0001-") where !file.hasSuffix(".json.part") {
            try FileManager.default.removeItem(atPath: "\(rig.directory)/\(file)")
        }
        let draft = try #require(try files(rig, ".json.part").first)
        try Data().write(to: URL(fileURLWithPath: "\(rig.directory)/\(draft)"))
        storage.code = nil
        rig.run(.seconds(130), step: .seconds(1))
        #expect(try files(rig, "-0001-") == [])
        let listings = storage.listings
        rig.run(.seconds(600), step: .seconds(1))
        #expect(storage.listings == listings)
    }

    @Test func `room that the bin holds is enough to save what a removed file held`() throws {
        let storage = TroubledStorage()
        let rig = try Rig(files: FileSystem(calls: storage)) { $0.reserveBytes = 1 << 20 }
        storage.free = 1 << 30
        let stems = try (0..<3).map { _ in try recordTake(rig) }
        for stem in stems { rig.deck.perform(.discard(stem: stem)) { _ in } }
        rig.run(.seconds(1))
        #expect(rig.deck.binnedTakes.count == 3)
        rig.press(.record)
        rig.run(.seconds(2))
        let file = try #require(try files(rig, ".wav.part").first)
        // The takes in the bin are not deleted yet.
        rig.stuck = [.archivist]
        storage.free = 1 << 20 + 20_000
        try FileManager.default.removeItem(atPath: "\(rig.directory)/\(file)")
        rig.run(.milliseconds(985))
        rig.press(.stop)
        rig.settle()
        rig.stuck = []
        rig.run(.seconds(2))
        let sidecar = try #require(try rig.sidecars().last)
        #expect(sidecar.parts.count == 2 && sidecar.gaps == [] && sidecar.endedBy == .stop)
    }
}
