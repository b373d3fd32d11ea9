import Files
import Foundation
import Glibc
import Panel
import TakePlaces
import Takes
import TestBench
import Testing
import Transport

@testable import Deck

/// The file of the take in progress is removed, and the storage accepts no other: its sound exists only while the file
/// is open.
@Suite struct LostInodesTests {
    private let storage = TroubledStorage()

    /// A kit that has recorded for 6 s, the first half into a file that was then removed.
    private func recorded(_ code: Int32, twin: Bool = false) throws -> (Rig, file: String) {
        let rig = try Rig.recording(for: .seconds(3), files: FileSystem(calls: storage)) { $0.keepsUnfiltered = twin }
        storage.creating = code
        let files = try FileManager.default.subpathsOfDirectory(atPath: rig.directory).filter {
            $0.hasSuffix(".wav.part")
        }
        for file in files { #expect(unlink("\(rig.directory)/\(file)") == 0) }
        rig.run(.milliseconds(2985))
        #expect(rig.deck.state == .recording)
        let file = try #require(files.min { $0.count < $1.count })
        #expect(
            rig.deck.status.faults.contains { $0.message.contains(file) && $0.message.contains("moved or removed") })
        return (rig, file)
    }

    private func expectWhole(_ rig: Rig, twin: Bool) throws {
        let sidecar = try #require(try rig.sidecars().first)
        #expect(sidecar.endedBy == .stop && !sidecar.recovered && sidecar.gaps == [] && sidecar.frames == 48_000)
        let samples = try sidecar.parts.flatMap { try rig.samples($0.file, of: sidecar) }
        #expect(difference(samples, 8000..<56_000) == nil)
        #expect(sidecar.parts.allSatisfy { ($0.unfilteredFile != nil) == twin })
    }

    @Test(arguments: [ENOSPC, EDQUOT, EACCES], [true, false])
    func `what it held is saved at the end, however long that takes`(code: Int32, twin: Bool) throws {
        let (rig, _) = try recorded(code, twin: twin)
        rig.press(.stop)
        rig.run(.seconds(90))
        #expect(rig.deck.state == .recording)
        #expect(!rig.deck.status.faults.isEmpty)
        storage.creating = nil
        rig.run(.seconds(3))
        #expect(rig.deck.state == .idle)
        try expectWhole(rig, twin: twin)
    }

    @Test func `the sound goes on in the place of the waveform, if there is no other`() throws {
        let rig = try Rig.recording(for: .seconds(80), files: FileSystem(calls: storage))
        let files = try FileManager.default.subpathsOfDirectory(atPath: rig.directory)
        #expect(files.contains { $0.hasSuffix(".dat.part") })
        storage.creatable = 0
        let file = try #require(files.first { $0.hasSuffix(".wav.part") })
        #expect(unlink("\(rig.directory)/\(file)") == 0)
        rig.run(.seconds(3))
        #expect(
            try FileManager.default.subpathsOfDirectory(atPath: rig.directory).contains { $0.hasEnding("-p2.wav.part") }
        )
        storage.creatable = nil
        rig.run(.milliseconds(1985))
        rig.press(.stop)
        rig.run(.seconds(5))
        let sidecar = try #require(try rig.sidecars().first)
        #expect(sidecar.gaps == [] && sidecar.parts.count == 2 && sidecar.frames == 85 * 8000)
    }

    @Test(arguments: [ENOSPC, EPERM])
    func `a press ends the wait after a while, and both are told that the sound is lost`(code: Int32) throws {
        let (rig, file) = try recorded(code)
        var answer: Result<Status, Refusal>?
        rig.deck.handle(.stop(at: rig.clock.now(), by: rig.deck.asker { answer = $0 }))
        rig.run(.seconds(60))
        rig.press(.record)
        rig.run(.seconds(15))
        #expect(rig.log.messages.allSatisfy { !$0.contains("are lost") } && answer == nil)
        rig.run(.seconds(30))
        #expect(rig.log.messages.contains { $0.contains(file) && $0.contains("6.0 s of it are lost") })
        guard case .failure(let refusal)? = answer else { return #expect(Bool(false), "\(answer as Any)") }
        #expect(refusal.code == .io)
        #expect(refusal.message.contains("\(file): another program moved or removed it"), "\(refusal.message)")
        #expect(refusal.message.contains("6.0 s of it are lost"), "\(refusal.message)")
        #expect(rig.log.messages.allSatisfy { !$0.contains("nothing was recorded") && !$0.contains("sound was lost") })
    }

    @Test func `a stop waits until all is saved, and sound from behind it is no loss`() throws {
        let rig = try Rig.recording(for: .seconds(3), files: FileSystem(calls: storage))
        // 24 MB, of which a sync saves 8 MiB.
        rig.run(.seconds(1500), step: .seconds(1))
        let file = try #require(
            try FileManager.default.subpathsOfDirectory(atPath: rig.directory).first { $0.hasSuffix(".wav.part") })
        #expect(unlink("\(rig.directory)/\(file)") == 0)
        rig.isSyncStalled = true
        rig.press(.stop)
        for _ in 0..<3 {
            rig.run(.seconds(15))
            #expect(rig.deck.state == .recording)
            rig.runSync()
        }
        rig.isSyncStalled = false
        rig.run(.seconds(1))
        #expect(rig.deck.state == .idle)
        let sidecar = try #require(try rig.sidecars().first)
        #expect(sidecar.gaps == [] && sidecar.endedBy == .stop && sidecar.frames > 1500 * 8000)
        #expect(rig.log.messages.allSatisfy { !$0.contains("sound was lost") }, "\(rig.log.messages)")
    }

    @Test func `sound from behind the end of a take that the storage does not finish is no loss`() throws {
        let rig = try Rig.recording(for: .seconds(3), files: FileSystem(calls: storage))
        rig.press(.stop)
        rig.stuck = [.writer]
        rig.run(.seconds(60))
        #expect(rig.deck.state == .recording)
        rig.stuck = []
        rig.run(.seconds(3))
        let sidecar = try #require(try rig.sidecars().first)
        #expect(sidecar.gaps == [] && sidecar.endedBy == .stop)
        #expect(rig.log.messages.allSatisfy { !$0.contains("sound was lost") }, "\(rig.log.messages)")
    }
}
