import Files
import PowerCuts
import Takes
import TestBench
import Testing

@testable import TakeFiles

/// The storage operations of a take, apart from its sound.
struct StorageLoadTests {
    @Test func `a take of ten minutes writes its header every ten seconds, and a sidecar for what changed`() throws {
        let scratch = TestFolder(in: .memory)
        let calls = FaultyCalls(root: scratch.path + "/takes")
        let directory = try TakesDirectory(path: scratch.path + "/takes", files: FileSystem(calls: calls))
        let format = StreamFormat(rateHz: 8000, channels: 1, sampleFormat: .s16)
        let output = try TakeOutput(directory, format)
        calls.trace = []
        // One sync per 465 ms of sound, and one point of the clock map per 30 s.
        let syncs: Int64 = 1290
        for index in 0..<syncs {
            try output.append(3720, format)
            if index % 64 == 0 {
                output.note(
                    .clock(
                        Sidecar.ClockPoint(atFrame: TakeFrame(index * 3720), rawNs: 0, utc: nil, errorUs: 50)))
            }
            try output.sync()
        }
        let audio = "2026-11-21/\(output.name.stem).wav.part"
        let headers = calls.trace.count { $0 == "write \(audio)" } - Int(syncs)
        let flushes = calls.trace.count { $0 == "fdatasync \(audio)" }
        let sidecars = calls.trace.count { $0.hasPrefix("rename ") }
        // One header per sync would be 1290 headers of 4096 bytes.
        #expect(headers <= 61 && headers >= 59)
        #expect(sidecars == 9)
        #expect(flushes == Int(syncs))
        // The draft and its folder, and both again after the rename.
        #expect(calls.trace.count { $0.hasPrefix("fsync ") } == 4 * sidecars)
    }
}
