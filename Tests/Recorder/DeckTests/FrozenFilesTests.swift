import Files
import Foundation
import Glibc
import Panel
import TakeFiles
import Takes
import TestBench
import Testing
import Transport

@testable import Deck

/// A file of the take in progress accepts no more data, while the storage accepts new files.
@Suite struct FrozenFilesTests {
    private static let codes = [EPERM, EACCES, EBADF, ESTALE, EFBIG]

    private func audio(of rig: Rig) throws -> [String] {
        try FileManager.default.subpathsOfDirectory(atPath: rig.directory).filter { $0.hasSuffix(".wav.part") }.sorted()
    }

    private func fingerprint(of file: String, frames: Int64, _ rig: Rig) throws -> String {
        let bytes = try Data(contentsOf: URL(fileURLWithPath: "\(rig.directory)/2026-11-21/\(file)"))
        var digest = SoundDigest()
        digest.update(Array(bytes[4096..<4096 + Int(frames) * 2]))
        return digest.hexadecimal
    }

    private func expectWhole(_ rig: Rig, _ sidecar: Sidecar, twins: Int) throws {
        var next = 8000
        for part in sidecar.parts {
            #expect(part.firstFrame.count == Int64(next - 8000))
            #expect(difference(try rig.samples(part.file, of: sidecar), next..<next + Int(part.frames)) == nil)
            #expect(try part.soundSHA256 == fingerprint(of: part.file, frames: part.frames, rig))
            if let twin = part.unfilteredFile {
                let frames = part.unfilteredFrames ?? part.frames
                #expect(difference(try rig.samples(twin, of: sidecar), next..<next + Int(frames)) == nil)
                #expect(try part.unfilteredSoundSHA256 == fingerprint(of: twin, frames: frames, rig))
            }
            next += Int(part.frames)
        }
        #expect(next == 8000 + 40_000 && sidecar.gaps == [])
        #expect(sidecar.parts.count { $0.unfilteredFile != nil } == twins)
    }

    @Test(arguments: codes) func `the sound goes on in another part, and nothing is lost`(code: Int32) throws {
        let storage = TroubledStorage()
        let rig = try Rig.recording(for: .seconds(3), files: FileSystem(calls: storage))
        storage.frozen = (code, try audio(of: rig))
        rig.run(.milliseconds(1500))
        #expect(rig.deck.state == .recording)
        #expect(rig.deck.status.faults.map(\.code) == [.storageFailing])
        let recording = try #require(rig.deck.indication.recording)
        #expect(rig.clock.now() - recording.safeUntil < .seconds(1))
        rig.run(.milliseconds(485))
        storage.frozen = nil
        rig.press(.stop)
        rig.settle()
        let sidecar = try #require(try rig.sidecars().first)
        #expect(sidecar.endedBy == .stop && !sidecar.recovered && sidecar.parts.count == 2)
        try expectWhole(rig, sidecar, twins: 0)
    }

    @Test(arguments: codes, [true, false])
    func `if only the unfiltered sound cannot be written, the filtered goes on`(code: Int32, isForGood: Bool) throws {
        let storage = TroubledStorage()
        let rig = try Rig.recording(for: .seconds(3), files: FileSystem(calls: storage)) { $0.keepsUnfiltered = true }
        storage.frozen = (code, isForGood ? ["-raw.wav.part"] : try audio(of: rig).filter { $0.contains("-raw") })
        rig.run(.milliseconds(1985))
        #expect(rig.deck.state == .recording)
        #expect(rig.deck.status.faults.map(\.code) == [.storageFailing])
        storage.frozen = nil
        rig.press(.stop)
        rig.settle()
        let sidecar = try #require(try rig.sidecars().first)
        #expect(sidecar.endedBy == .stop && !sidecar.recovered)
        try expectWhole(rig, sidecar, twins: isForGood ? 1 : 2)
        #expect(sidecar.parts.count == (isForGood ? 1 : 2))
    }

    @Test func `if no other file can be made the take ends, and all that was written is recovered`() throws {
        let storage = TroubledStorage()
        let rig = try Rig.recording(for: .seconds(3), files: FileSystem(calls: storage))
        let file = try #require(try audio(of: rig).first)
        storage.frozen = (EPERM, [file])
        storage.creating = EACCES
        rig.run(.seconds(1))
        #expect(rig.deck.state != .recording)
        let bytes = try FileManager.default.attributesOfItem(atPath: "\(rig.directory)/\(file)")[.size] as? Int
        let written = try #require(bytes) - 4096
        let next = try Rig(in: rig.cut()) { $0.bootID = "another boot" }
        next.run(.seconds(3))
        #expect(try next.sidecars().first?.frames == Int64(written / 2))
    }
}
