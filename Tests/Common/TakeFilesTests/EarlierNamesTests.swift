import Files
import TakePlaces
import Takes
import Testing

@testable import TakeFiles

/// Takes that keep their names of version 0.1.
struct EarlierNamesTests {
    private let bench = RecoveryBench()
    private let stem = "heron07-0001-061811Z"

    /// Records 300 frames in two parts with twins, and does not end the take.
    private func cut(pendingFormat: String? = nil) throws -> (directory: TakesDirectory, output: TakeOutput) {
        let directory = try TakesDirectory(path: bench.path)
        let name = try #require(TakeName(stem: stem, day: "2026-11-21"))
        var sidecar = testSidecar(name)
        sidecar.pendingFormat = pendingFormat
        let output = try TakeOutput(
            in: directory, name: name, sidecar: sidecar, started: morning, format: stereo16, keepsUnfiltered: true)
        try output.append(200, unfiltered: true)
        try output.beginPart(format: stereo16, firstFrame: 200)
        try output.append(100, unfiltered: true)
        try output.sync()
        return (directory, output)
    }

    @Test func `an unfinished take is recovered under its name, and the next has a date in its own`() throws {
        _ = try cut()
        let sidecar = try #require(try bench.recovered())
        #expect(sidecar.take == stem && sidecar.frames == 300)
        #expect(sidecar.parts.map(\.file) == ["\(stem).wav", "\(stem)-p2.wav"])
        #expect(sidecar.parts.map(\.unfilteredFile) == ["\(stem)-raw.wav", "\(stem)-p2-raw.wav"])
        let endings = ["-p2-raw.wav", "-p2.wav", "-raw.wav", ".dat", ".json", ".wav"]
        #expect(try bench.files.entries(bench.folder).sorted() == endings.map { stem + $0 })
        let next = try TakesDirectory(path: bench.path).nextTake(kit: "heron07", started: morning)
        #expect(next.stem == "heron07-0002_20261121_061811")
    }

    @Test func `a finished take is converted, binned and restored under its name`() throws {
        let (directory, output) = try cut(pendingFormat: "flac")
        _ = try output.finish(endedBy: .stop, levels: [])
        let conversion = FLACConversion(of: output.name, in: directory, reserveBytes: 0)
        while try conversion.step() == nil {}
        let files = ["-p2-raw.flac", "-p2.flac", "-raw.flac", ".dat", ".flac", ".json"].map { stem + $0 }
        #expect(try bench.files.entries(bench.folder).sorted() == files)
        #expect(try frames(of: "\(bench.folder)/\(stem)-p2-raw.flac") == sound(200..<300, stereo16, seed: 7))
        directory.readBin(at: binMoment())
        try directory.moveToBin(output.name, at: binMoment())
        #expect(try directory.takes() == [])
        try directory.restore(output.name)
        #expect(try bench.files.entries(bench.folder).sorted() == files)
        #expect(try directory.takes() == [output.name])
    }
}
