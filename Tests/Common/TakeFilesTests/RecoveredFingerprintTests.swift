import Files
import PowerCuts
import Takes
import Testing

@testable import TakeFiles

/// The fingerprints of recovered files, and of files that another program changed.
struct RecoveredFingerprintTests {
    let bench = RecoveryBench()

    @Test(arguments: [false, true]) func `each file that recovery leaves has the fingerprint of what it holds`(
        isTwin: Bool
    ) throws {
        // An interruption cannot explain a difference of this size, so neither file is cut to the length of the other.
        let slow = StreamFormat(rateHz: 1000, channels: 2, sampleFormat: .s16)
        let name = try bench.record(slow, keepsUnfiltered: true, splitBytes: TakeOutput.largestSplitBytes) { output in
            try output.append(70_000, slow, unfiltered: true)
            try output.beginPart(format: slow, firstFrame: 70_000)
            try output.append(100, slow, unfiltered: true)
            try output.sync()
            try output.sync()
        }
        let path = "\(bench.folder)/\(name.audioFile(part: 1, isUnfiltered: isTwin)).part"
        try bench.files.truncate(bench.files.open(path), to: Int64(WAVHeader.byteCount) + 4000)
        let sidecar = try #require(try bench.recovered())
        #expect(sidecar.parts[0].frames == (isTwin ? 70_000 : 1000))
        #expect(sidecar.parts[0].unfilteredFrames == (isTwin ? 1000 : 70_000))
        for (file, finding) in try bench.findings(sidecar) {
            guard case .asRecorded = finding else { Issue.record("\(file): \(finding)"); continue }
        }
    }

    @Test func `a twin that is gone costs the filtered sound its fingerprint from capture not`() throws {
        let name = try bench.record(keepsUnfiltered: true) { output in
            try output.append(2000, unfiltered: true)
            try output.sync()
            try output.sync()
        }
        try bench.files.remove("\(bench.folder)/\(name.audioFile(part: 1, isUnfiltered: true)).part")
        let sidecar = try #require(try bench.recovered())
        #expect(sidecar.parts.map(\.fingerprint) == [.capture, .capture, .later])
        #expect(try bench.findings(sidecar).values.allSatisfy { !$0.isDamage })
    }

    @Test(arguments: [false, true])
    func `a file that another program shortened while it was recorded is listed as it is`(
        isTwin: Bool
    ) throws {
        let directory = try TakesDirectory(path: bench.path)
        let output = try TakeOutput(directory, keepsUnfiltered: true)
        try output.append(1000, unfiltered: true)
        try output.sync()
        let path = "\(bench.folder)/\(output.name.audioFile(part: 1, isUnfiltered: isTwin)).part"
        try bench.files.truncate(bench.files.open(path), to: Int64(WAVHeader.byteCount) + 1600)
        try output.sync()
        try output.append(500, unfiltered: true)
        let sidecar = try output.finish(endedBy: .stop, levels: [])
        #expect(sidecar.parts.map(\.frames) == (isTwin ? [1000, 500] : [400, 500]))
        #expect(sidecar.parts.map(\.unfilteredFrames) == (isTwin ? [400, nil] : [1000, nil]))
        #expect(try bench.findings(sidecar).values.allSatisfy { !$0.isDamage })
    }

    @Test func `a take recovered from what a cut left has fingerprints of all its files`() throws {
        _ = try bench.record(keepsUnfiltered: true) { output in
            try output.append(2000, unfiltered: true)
            try output.sync()
        }
        let sidecar = try #require(try bench.recovered())
        // The draft has the fingerprints of the complete parts.
        #expect(sidecar.parts.map(\.fingerprint) == [.capture, .capture, .later])
        for part in sidecar.parts {
            #expect(part.soundSHA256 == soundSHA256(try frames(of: "\(bench.folder)/\(part.file)")))
            let twin = try #require(part.unfilteredFile)
            #expect(part.unfilteredSoundSHA256 == soundSHA256(try frames(of: "\(bench.folder)/\(twin)")))
        }
    }
}
