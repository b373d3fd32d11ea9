import Files
import Glibc
import PowerCuts
import TakePlaces
import Takes
import TestBench
import Testing

@testable import TakeFiles

/// Takes to convert to FLAC, in a folder of their own, with system calls that can fail.
struct ConversionBench {
    let scratch = TestFolder(in: .memory)
    let calls: FaultyCalls
    let directory: TakesDirectory

    init() throws {
        calls = FaultyCalls(root: scratch.path + "/takes")
        directory = try TakesDirectory(path: scratch.path + "/takes", files: FileSystem(calls: calls))
    }

    /// A finished take that must become FLAC, with two parts and their twins, 300 frames by default.
    func pendingTake(_ format: StreamFormat = stereo16, frames: Int64 = 300) throws -> TakeName {
        let output = try TakeOutput(directory, format, keepsUnfiltered: true, pendingFormat: "flac")
        try output.append(frames * 2 / 3, format, unfiltered: true)
        try output.beginPart(format: format, firstFrame: frames * 2 / 3)
        try output.append(frames - frames * 2 / 3, format, unfiltered: true)
        output.note(markers: [Sidecar.Marker(atFrame: 7, note: "wren"), Sidecar.Marker(atFrame: 250, note: nil)])
        _ = try output.finish(endedBy: .stop, levels: [])
        calls.trace = []
        return output.name
    }

    func names() throws -> [String] {
        try everything(in: directory.path).keys.filter { $0.contains("/") }.map { String($0.dropFirst(11)) }.sorted()
    }

    /// Steps until the conversion ends.
    func run(_ conversion: FLACConversion) throws(FileError) -> FLACConversion.Outcome {
        while true {
            if let outcome = try conversion.step() { return outcome }
        }
    }

    func convert(_ take: TakeName, reserveBytes: Int64 = 0) throws(FileError) -> FLACConversion.Outcome {
        try run(FLACConversion(of: take, in: directory, reserveBytes: reserveBytes))
    }

    func path(_ name: String) -> String { "\(directory.path)/2026-11-21/\(name)" }

    static let stem = "heron07-0001_20261121_061811"
    static let converted = ["-p2-raw.flac", "-p2.flac", "-raw.flac", ".dat", ".flac", ".json"].map { stem.file($0) }
    static let original = ["-p2-raw.wav", "-p2.wav", "-raw.wav", ".dat", ".json", ".wav"].map { stem.file($0) }

    /// Checks that all files of the take are FLAC and hold the sound of the WAV files.
    func expectConverted(_ take: TakeName, _ format: StreamFormat = stereo16, _ comment: Comment? = nil) throws {
        let first = try directory.sidecar(of: take).parts[1].firstFrame.count
        let begun = morning + .seconds(Double(first) / Double(format.rateHz))
        let second = String(take.audioFile(part: 2, started: begun).dropLast(4).suffix(6))
        let expected = Self.converted.map { $0.contains("-p2") ? $0.replacing("061811", with: second) : $0 }
        #expect(try names() == expected, comment)
        let sidecar = try directory.sidecar(of: take)
        #expect(sidecar.pendingFormat == nil, comment)
        #expect(sidecar.parts.map(\.file) == [expected[4], expected[1]], comment)
        for part in sidecar.parts {
            let range = part.firstFrame.count..<part.firstFrame.count + part.frames
            #expect(try frames(of: path(part.file)) == sound(range, format), comment)
            let twin = part.file.twin
            #expect(try frames(of: path(twin)) == sound(range, format, seed: 7), comment)
            #expect(rights(path(part.file)) == "640", comment)
        }
    }

    /// The number of system calls of a conversion.
    static func callCount() throws -> Int {
        let bench = try ConversionBench()
        let take = try bench.pendingTake()
        bench.calls.setPlan { _, _ in nil }
        _ = try bench.convert(take)
        return bench.calls.count
    }

    /// Checks that the sound of every part and twin is in a file that its sidecar or its name leads to.
    func expectWhole(_ take: TakeName, _ comment: Comment) throws {
        let sidecar = try directory.sidecar(of: take)
        let there = Set(try names())
        for part in sidecar.parts {
            let range = part.firstFrame.count..<part.firstFrame.count + part.frames
            let found = try? frames(of: path(part.file))
            #expect(found == sound(range, stereo16), comment)
            let base = part.file.twin.prefix { $0 != "." }
            let twin = there.contains("\(base).wav") ? "\(base).wav" : "\(base).flac"
            let foundTwin = try? frames(of: path(twin))
            #expect(foundTwin == sound(range, stereo16, seed: 7), comment)
        }
    }

    /// Checks that the take is unchanged WAV and not pending any more.
    func expectKept(_ take: TakeName, _ outcome: FLACConversion.Outcome, _ reason: String) throws {
        let sidecar = try directory.sidecar(of: take)
        #expect(outcome == .kept(sidecar, "convert \(Self.stem) to FLAC: \(reason): it stays WAV"))
        #expect(sidecar.pendingFormat == nil)
        #expect(sidecar.revision == 2)
        #expect(sidecar.parts.map(\.file) == ["\(Self.stem).wav", Self.stem.file("-p2.wav")])
        #expect(try convert(take) == .nothingToDo)
    }
}
