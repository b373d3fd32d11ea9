import Files
import Foundation
import Glibc
import Panel
import Takes
import TestBench
import Testing
import Transport

@testable import Deck

/// The storage has free bytes but accepts no new file, because inodes or a quota are exhausted, a folder is not
/// writable, or too many files are open.
@Suite struct FewFilesTests {
    private static let codes = [ENOSPC, EDQUOT, EACCES, EMFILE]

    @Test(arguments: codes) func `a marker and a full part do not end a take while no file can be made`(code: Int32)
        throws
    {
        let storage = TroubledStorage()
        // 96 000 bytes are 6 s, the length of a part.
        let rig = try Rig.recording(for: .seconds(3), files: FileSystem(calls: storage)) { $0.splitBytes = 106_496 }
        storage.creating = code
        rig.press(.record)
        rig.run(.seconds(3))
        #expect(rig.deck.state == .recording)
        let isFull = code == ENOSPC || code == EDQUOT
        #expect(rig.deck.status.faults.map(\.code) == [isFull ? .diskFull : .storageFailing])
        #expect(rig.clock.now() - rig.deck.indication.recording!.safeUntil < .seconds(1))
        rig.run(.seconds(15))
        #expect(rig.deck.state == .recording)
        #expect(rig.clock.now() - rig.deck.indication.recording!.safeUntil < .seconds(1))
        storage.creating = nil
        rig.run(.seconds(12))
        #expect(rig.deck.status.faults == [])
        rig.press(.stop)
        rig.settle()
        let sidecar = try #require(try rig.sidecars().first)
        #expect(sidecar.endedBy == .stop && sidecar.markers.count == 1 && sidecar.gaps == [])
        #expect(sidecar.parts.count >= 2 && sidecar.parts[0].frames > 8 * 15_000)
        var next = 8000
        for part in sidecar.parts {
            #expect(part.firstFrame.count == Int64(next - 8000))
            #expect(difference(try rig.samples(part.file, of: sidecar), next..<next + Int(part.frames)) == nil)
            next += Int(part.frames)
        }
    }

    @Test(arguments: codes) func `a kit whose storage takes no file is not armed, and heals by itself`(code: Int32)
        throws
    {
        let storage = TroubledStorage()
        let rig = try Rig(files: FileSystem(calls: storage))
        rig.run(.milliseconds(1000))
        storage.creating = code
        rig.press(.record)
        rig.run(.seconds(10))
        #expect(!rig.deck.isArmed && rig.deck.state == .fault)
        let isFull = code == ENOSPC || code == EDQUOT
        #expect(rig.deck.status.faults.map(\.code) == [isFull ? .diskFull : .storageFailing])
        storage.creating = nil
        rig.run(.seconds(5))
        #expect(rig.deck.isArmed)
        rig.press(.record)
        rig.run(.seconds(1))
        rig.press(.stop)
        rig.settle()
        #expect(try rig.sidecars().count == 1)
        let files = try FileManager.default.subpathsOfDirectory(atPath: rig.directory)
        #expect(!files.contains { $0.contains(".probe") })
    }

    @Test func `no file can be made for some time, which an idle kit notices`() throws {
        let storage = TroubledStorage()
        let rig = try Rig(files: FileSystem(calls: storage))
        rig.run(.milliseconds(1000))
        storage.creating = EDQUOT
        rig.run(.seconds(65))
        #expect(!rig.deck.isArmed && rig.deck.status.faults.map(\.code) == [.diskFull])
        storage.creating = nil
        rig.run(.seconds(5))
        #expect(rig.deck.isArmed && rig.deck.status.faults == [])
        storage.freeInodes = 0
        rig.run(.seconds(3))
        #expect(!rig.deck.isArmed && rig.deck.status.faults.map(\.code) == [.diskFull])
        storage.freeInodes = nil
        rig.run(.seconds(3))
        #expect(rig.deck.isArmed && rig.deck.status.faults == [])
    }

    @Test func `a take that could not be finished is recovered once files can be made, and says why it ended`() throws {
        let storage = TroubledStorage()
        let rig = try Rig.recording(for: .seconds(3), files: FileSystem(calls: storage))
        storage.creating = EACCES
        rig.run(.milliseconds(985))
        rig.press(.stop)
        rig.run(.seconds(5))
        #expect(rig.deck.state == .fault)
        #expect(try rig.sidecars() == [])
        storage.creating = nil
        rig.run(.seconds(65))
        let sidecar = try #require(try rig.sidecars().first)
        #expect(sidecar.frames == 32_000 && sidecar.recovered)
        #expect(difference(try rig.samples(sidecar.parts[0].file, of: sidecar), 8000..<40_000) == nil)
    }

    @Test func `a day's folder that is away is searched again once it is back`() throws {
        let storage = TroubledStorage()
        let rig = try Rig.recording(for: .seconds(3), files: FileSystem(calls: storage))
        storage.code = EIO
        rig.run(.seconds(3))
        let day = try #require(
            try FileManager.default.contentsOfDirectory(atPath: rig.directory).first { $0.hasPrefix("20") })
        let away = rig.directory + "-away"
        try FileManager.default.moveItem(atPath: "\(rig.directory)/\(day)", toPath: away)
        storage.code = nil
        rig.run(.seconds(5))
        #expect(rig.deck.isArmed)
        #expect(try rig.sidecars() == [])
        try FileManager.default.moveItem(atPath: away, toPath: "\(rig.directory)/\(day)")
        rig.run(.seconds(70))
        let sidecar = try #require(try rig.sidecars().first)
        #expect(sidecar.endedBy == .storageError && sidecar.frames > 8 * 2000)
    }

    @Test func `a take that is to be followed by another goes on if that one cannot be made`() throws {
        let storage = TroubledStorage()
        let rig = try Rig.recording(for: .seconds(5), files: FileSystem(calls: storage)) {
            $0.rules.newTakeEvery = .seconds(10)
        }
        storage.creating = ENOSPC
        rig.run(.seconds(10))
        #expect(rig.deck.state == .recording)
        #expect(rig.deck.status.faults.map(\.code).contains(.diskFull))
        storage.creating = nil
        rig.run(.seconds(10))
        rig.press(.stop)
        rig.settle()
        let takes = try rig.sidecars()
        #expect(takes.map(\.endedBy) == [.next, .stop])
        #expect(takes.first.map { $0.frames == 160_000 } ?? false)
    }

    @Test(arguments: codes, [4096 + 16_000, 0])
    func `a file that is shortened while no other can be made goes on, and what is lost is listed`(
        code: Int32, byteCount: Int
    ) throws {
        let storage = TroubledStorage()
        let rig = try Rig.recording(for: .seconds(3), files: FileSystem(calls: storage))
        storage.creating = code
        let file = try #require(
            try FileManager.default.subpathsOfDirectory(atPath: rig.directory).first { $0.hasSuffix(".wav.part") })
        #expect(truncate("\(rig.directory)/\(file)", byteCount) == 0)
        rig.run(.seconds(3))
        #expect(rig.deck.state == .recording)
        #expect(!rig.deck.status.faults.isEmpty)
        storage.creating = nil
        rig.run(.milliseconds(1985))
        rig.press(.stop)
        rig.settle()
        let sidecar = try #require(try rig.sidecars().first)
        #expect(sidecar.endedBy == .stop && !sidecar.recovered)
        #expect(sidecar.frames == 64_000 && sidecar.gaps.count == 1 && sidecar.parts.count == 1)
        let gap = try #require(sidecar.gaps.first)
        #expect(gap.atFrame.count == Int64(max(0, byteCount - 4096) / 2))
        let (start, end) = (Int(gap.atFrame.count), Int(gap.end.count))
        let samples = try rig.samples(sidecar.parts[0].file, of: sidecar)
        #expect(difference(Array(samples[..<start]), 8000..<8000 + start) == nil)
        #expect(samples[start..<end].allSatisfy { $0 == 0 })
        #expect(difference(Array(samples[end...]), 8000 + end..<72_000) == nil)
        #expect(sidecar.parts[0].soundSHA256 == nil)
    }

    /// The take that recovery would produce if the power were cut now.
    private func recoveredAfterCut(_ rig: Rig) throws -> Sidecar? {
        let next = try Rig(in: rig.cut()) { $0.bootID = "another boot" }
        next.run(.seconds(3))
        return try next.sidecars().first
    }

    @Test(arguments: codes)
    func `markers are safe after the next sync, while no file can be made`(code: Int32) throws {
        let storage = TroubledStorage()
        let rig = try Rig.recording(for: .seconds(3), files: FileSystem(calls: storage))
        storage.creating = code
        for _ in 0..<60 { rig.press(.record) }
        rig.run(.seconds(2))
        #expect(rig.deck.state == .recording && rig.deck.status.faults.count == 1)
        let recovered = try #require(try recoveredAfterCut(rig))
        #expect(recovered.markers.count == 60 && recovered.endedBy == .powerCut)
    }

    @Test(arguments: codes)
    func `why a take ended is safe, while no file can be made`(code: Int32) throws {
        let storage = TroubledStorage()
        let rig = try Rig.recording(for: .seconds(3), files: FileSystem(calls: storage))
        storage.creating = code
        rig.run(.milliseconds(985))
        rig.press(.stop)
        rig.run(.seconds(3))
        #expect(try rig.sidecars() == [])
        let recovered = try #require(try recoveredAfterCut(rig))
        #expect(recovered.endedBy == .stop && recovered.frames == 32_000)
    }
}
