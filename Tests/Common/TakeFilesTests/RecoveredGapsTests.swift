import Files
import PowerCuts
import TakePlaces
import Takes
import Testing

@testable import TakeFiles

/// Missing frames between the parts of a recovered take.
struct RecoveredGapsTests {
    let bench = RecoveryBench()

    /// A take of three parts of up to 1000 frames, all of which are on the disk.
    private func threeParts(keepsUnfiltered: Bool = false) throws -> TakeName {
        try bench.record(keepsUnfiltered: keepsUnfiltered, splitBytes: 8192) { output in
            try output.append(2500, unfiltered: keepsUnfiltered)
            try output.sync()
            try output.sync()
        }
    }

    private func cut(_ file: String, to frames: Int64) throws {
        let open = try bench.files.open("\(bench.folder)/\(file).part")
        try bench.files.truncate(open, to: Int64(WAVHeader.byteCount) + frames * Int64(stereo16.bytesPerFrame))
    }

    private func expectHole(_ sidecar: Sidecar, _ gap: Sidecar.Gap) {
        #expect(sidecar.gaps == [gap])
        var missing: Int64 = 0
        var next = TakeFrame.first
        for part in sidecar.parts {
            missing += part.firstFrame - next
            next = sidecar.end(of: part)
        }
        #expect(missing == gap.frames)
    }

    @Test func `the lost end of a part before the last is a gap, and reported`() throws {
        let name = try threeParts()
        try cut(name.audioFile(part: 2), to: 300)
        let recovery = TakeRecovery(of: name, in: try TakesDirectory(path: bench.path), bootID: "another")
        var outcome: TakeRecovery.Outcome?
        while outcome == nil { outcome = try recovery.step() }
        guard case .recovered(let sidecar)? = outcome else {
            Issue.record("\(outcome as Any)")
            return
        }
        #expect(sidecar.parts.count == 3)
        let end = sidecar.parts[1].firstFrame + 300
        expectHole(sidecar, Sidecar.Gap(atFrame: end, frames: sidecar.parts[2].firstFrame - end, cause: .stall))
        #expect(recovery.shortcomings.contains { $0.contains("of it are lost from") })
    }

    @Test(arguments: [1, 2]) func `a part that is gone is a gap`(part: Int) throws {
        let name = try threeParts()
        let before = part == 1 ? TakeFrame.first : nil
        try bench.files.remove("\(bench.folder)/\(name.audioFile(part: part)).part")
        let sidecar = try #require(try bench.recovered())
        #expect(sidecar.parts.count == 2)
        let start = before ?? sidecar.end(of: sidecar.parts[0])
        let next = sidecar.parts[part - 1].firstFrame
        expectHole(sidecar, Sidecar.Gap(atFrame: start, frames: next - start, cause: .stall))
    }

    @Test func `a part whose twin is shorter has no gap`() throws {
        let name = try bench.record(keepsUnfiltered: true, splitBytes: 8192) { try $0.append(2500, unfiltered: true) }
        try cut(name.audioFile(part: 1, isUnfiltered: true), to: 400)
        let sidecar = try #require(try bench.recovered())
        #expect(sidecar.parts[0].frames == 896 && sidecar.parts[0].unfilteredFrames == 400 && sidecar.gaps == [])
    }

    @Test func `what is listed already is not listed again`() throws {
        let name = try bench.record(splitBytes: 1 << 20) { output in
            try output.append(1000)
            output.note(gaps: [Sidecar.Gap(atFrame: TakeFrame(1000), frames: 500, cause: .cardLost)])
            try output.beginPart(format: stereo16, firstFrame: 1500)
            try output.append(600)
            try output.sync()
        }
        let listed = Sidecar.Gap(atFrame: TakeFrame(1000), frames: 500, cause: .cardLost)
        try cut(name.audioFile(part: 1), to: 900)
        let sidecar = try #require(try bench.recovered())
        #expect(sidecar.gaps == [Sidecar.Gap(atFrame: TakeFrame(900), frames: 100, cause: .stall), listed])
    }
}
