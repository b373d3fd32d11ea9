import Files
import Glibc
import PowerCuts
import TakePlaces
import Takes
import TestBench
import Testing

@testable import TakeFiles

/// The consequences of a failed sync: the kernel may have discarded the data that it could not write.
struct FailedSyncTests {
    @Test func `after a sync that failed no later one counts, and what it left open is written again`() throws {
        let scratch = TestFolder(in: .memory)
        let calls = FaultyCalls(root: scratch.path + "/takes")
        let directory = try TakesDirectory(path: scratch.path + "/takes", files: FileSystem(calls: calls))
        let output = try TakeOutput(directory)
        try output.append(100)
        try output.sync()
        try output.append(50)
        let point = try output.syncPoint()
        calls.setPlan { number, _ in number == 0 ? EIO : nil }
        let expected = FileError(
            "sync", "\(directory.path)/2026-11-21/heron07-0001_20261121_061811.wav.part", code: EIO)
        #expect(throws: expected) { try output.synced(point.run()) }
        #expect(throws: expected) { _ = try output.syncPoint() }
        #expect(throws: expected) { _ = try output.finish(endedBy: .stop, levels: []) }
        #expect(output.syncedFrames == 100)
        calls.trace = []
        let remains = output.abandon(endedBy: .storageError, levels: [])
        #expect(remains == TakeRemains(name: output.name, safeFrames: 150, isFinished: true, error: nil))
        let part = "2026-11-21/heron07-0001_20261121_061811.wav.part"
        #expect(calls.trace.prefix(4) == ["truncate \(part)", "write \(part)", "write \(part)", "fsync \(part)"])
        #expect(
            expected.description
                == "sync \(directory.path)/2026-11-21/heron07-0001_20261121_061811.wav.part: Input/output error: "
                + "the storage is failing, replace it")
    }

    /// A take with a twin. 100 frames are synced, and 50 + 30 are not, since that sync failed.
    private func takeWithFailedSync(_ directory: TakesDirectory, _ calls: FaultyCalls) throws -> TakeOutput {
        let output = try TakeOutput(directory, keepsUnfiltered: true)
        try output.append(100, unfiltered: true)
        try output.sync()
        try output.append(50, unfiltered: true)
        output.note(markers: [10, 149, 160].map { Sidecar.Marker(atFrame: $0, note: nil) })
        try output.append(30, unfiltered: true)
        calls.setPlan { _, verb in verb == "fsync" || verb == "fdatasync" ? EIO : nil }
        #expect(throws: FileError.self) { try output.sync() }
        return output
    }

    /// Simulates a kernel that discards data which it failed to write, and then reads the old content of the disk.
    private func discard(_ frames: Range<Int64>, of path: String) throws {
        let old = [UInt8](repeating: 0x2a, count: frames.count * 4)
        try FileSystem().write(old, to: FileSystem().open(path), at: 4096 + frames.lowerBound * 4)
    }

    @Test(arguments: [
        (Int64(100)..<Int64(180), "", Int64(100)), (100..<101, "", 100), (130..<180, "-raw", 100), (150..<180, "", 150),
        (179..<180, "-raw", 150),
    ])
    func `what the storage lost of a sync that failed is not taken for sound`(
        lost: Range<Int64>, suffix: String, expected: Int64
    ) throws {
        let scratch = TestFolder(in: .memory)
        let calls = FaultyCalls(root: scratch.path + "/takes")
        let directory = try TakesDirectory(path: scratch.path + "/takes", files: FileSystem(calls: calls))
        let output = try takeWithFailedSync(directory, calls)
        calls.setPlan { _, _ in nil }
        let stem = "\(directory.path)/2026-11-21/\(output.name.stem)"
        try discard(lost, of: stem.file("\(suffix).wav.part"))
        let remains = output.abandon(endedBy: .storageError, levels: [])
        #expect(remains == TakeRemains(name: output.name, safeFrames: expected, isFinished: true, error: nil))
        #expect(try frames(of: "\(stem).wav") == sound(0..<expected, stereo16))
        #expect(try frames(of: stem.file("-raw.wav")) == sound(0..<expected, stereo16, seed: 7))
        let sidecar = try directory.sidecar(of: output.name)
        #expect(sidecar.frames == expected)
        #expect(sidecar.markers.map(\.atFrame.count) == (expected == 100 ? [10] : [10, 149]))
    }

    @Test(arguments: [nil, Int64(100), 130, 150])
    func `nor is it when the take is recovered once the storage works again`(
        lost: Int64?
    ) throws {
        let scratch = TestFolder(in: .memory)
        let calls = FaultyCalls(root: scratch.path + "/takes")
        let directory = try TakesDirectory(path: scratch.path + "/takes", files: FileSystem(calls: calls))
        let output = try takeWithFailedSync(directory, calls)
        let remains = output.abandon(endedBy: .storageError, levels: [])
        #expect(remains.safeFrames == 100 && !remains.isFinished)
        calls.setPlan { _, _ in nil }
        let stem = "\(directory.path)/2026-11-21/\(output.name.stem)"
        if let lost { try discard(lost..<180, of: "\(stem).wav.part") }
        calls.trace = []
        let recovery = TakeRecovery(of: output.name, in: directory, bootID: "", ending: .storageError)
        while try recovery.step() == nil {}
        if lost == nil {
            // Data that the kernel may have dropped is written again before it is synced.
            let part = "2026-11-21/\(output.name.stem).wav.part"
            #expect(
                Array(calls.trace.filter { $0.hasSuffix(" \(part)") }.prefix(5))
                    == ["write", "write", "truncate", "write", "fsync"].map { "\($0) \(part)" })
        }
        let expected: Int64 = lost.map { $0 < 150 ? 100 : 150 } ?? 180
        #expect(try directory.sidecar(of: output.name).frames == expected)
        #expect(try frames(of: "\(stem).wav") == sound(0..<expected, stereo16))
        // The twin lost nothing.
        #expect(try frames(of: stem.file("-raw.wav")) == sound(0..<180, stereo16, seed: 7))
    }
}
