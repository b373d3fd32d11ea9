import Files
import PowerCuts
import Takes
import TestBench
import Testing

@testable import TakeFiles

/// Takes whose names contain the date, as later versions name them. Each part has the time of its own first frame.
@Suite struct DatedNamesTests {
    private let scratch = TestFolder(in: .memory)
    private let stem = "heron07-0042_20261121_061811"
    private let second = "heron07-0042-p2_20261121_101811"
    private var path: String { scratch.path + "/takes" }

    /// A take of two parts with twins. The second part is renamed afterwards, since this version writes no dates.
    private func record(isFinished: Bool = true, pendingFormat: String? = nil) throws -> (TakesDirectory, TakeName) {
        let directory = try TakesDirectory(path: path)
        let name = try #require(TakeName(stem: stem, day: "2026-11-21"))
        var sidecar = testSidecar(name)
        sidecar.pendingFormat = pendingFormat
        let output = try TakeOutput(
            in: directory, name: name, sidecar: sidecar, started: morning, format: stereo16, keepsUnfiltered: true)
        try output.append(1000, unfiltered: true)
        try output.beginPart(format: stereo16, firstFrame: 1000)
        try output.append(500, unfiltered: true)
        if isFinished { _ = try output.finish(endedBy: .stop, levels: []) } else { try output.sync() }
        let day = "\(path)/2026-11-21"
        let files = FileSystem()
        for file in try files.entries(day) where file.hasPrefix("heron07-0042-p2") {
            try files.rename("\(day)/\(file)", to: "\(day)/\(file.replacing("061811", with: "101811"))")
        }
        let document = "\(day)/\(stem).json" + (isFinished ? "" : ".part")
        let json = String(decoding: try files.contents(document), as: UTF8.self)
        let renamed = ["-p2", "-p2-raw"].reduce(json) {
            $0.replacing("heron07-0042\($1)_20261121_061811", with: "heron07-0042\($1)_20261121_101811")
        }
        try files.replace(document, with: Array(renamed.utf8))
        return (directory, name)
    }

    private func names() throws -> [String] { try FileSystem().entries("\(path)/2026-11-21").sorted() }

    private var audio: [String] {
        [stem, "heron07-0042-raw_20261121_061811", second, "heron07-0042-p2-raw_20261121_101811"]
    }

    private func expected(_ ending: String) -> [String] {
        (audio.map { "\($0).\(ending)" } + ["\(stem).json", "\(stem).dat"]).sorted()
    }

    private func expectSound(_ directory: TakesDirectory, _ name: TakeName) throws {
        let audio = try TakeAudio(of: name, in: directory)
        #expect(audio.parts.map(\.frames) == [1000, 500])
        for (part, range) in [Int64(0)..<1000, 1000..<1500].enumerated() {
            #expect(try frames(of: audio.parts[part].path) == sound(range, stereo16))
        }
    }

    @Test func `it is listed, played, binned and restored with all parts, and removed with them`() throws {
        let (directory, name) = try record()
        #expect(try names() == expected("wav"))
        #expect(try directory.takes() == [name] && directory.leftovers() == [])
        #expect(try TakesFolder(path: path).takes().takes == [name])
        try expectSound(directory, name)
        directory.readBin(at: binMoment())
        try directory.moveToBin(name, at: binMoment())
        #expect(try names() == [])
        try directory.restore(name)
        #expect(try names() == expected("wav"))
        try expectSound(directory, name)
        try directory.remove(name)
        #expect(try names() == [])
    }

    @Test func `it becomes FLAC under the same names`() throws {
        let (directory, name) = try record(pendingFormat: "flac")
        let conversion = FLACConversion(of: name, in: directory, reserveBytes: 0)
        while try conversion.step() == nil {}
        #expect(try names() == expected("flac"))
        try expectSound(directory, name)
    }

    @Test func `what a power cut left of it is recovered under its names`() throws {
        _ = try record(isFinished: false)
        let directory = try TakesDirectory(path: path)
        let outcomes = try recoverAll(in: directory, bootID: "another")
        guard case .recovered(let sidecar)? = outcomes.first else {
            Issue.record("\(outcomes)")
            return
        }
        #expect(sidecar.audioFiles == audio.map { "\($0).wav" })
        #expect(try names() == expected("wav"))
        try expectSound(directory, try #require(directory.takes().first))
    }

    @Test func `of two takes with the number of one kit each keeps its own parts`() throws {
        let (directory, name) = try record()
        let later = try #require(TakeName(stem: "heron07-0042_20261121_110000", day: "2026-11-21"))
        let output = try TakeOutput(
            in: directory, name: later, sidecar: testSidecar(later), started: morning, format: stereo16)
        try output.append(100)
        _ = try output.finish(endedBy: .stop, levels: [])
        try directory.remove(name)
        #expect(try names() == ["\(later.stem).dat", "\(later.stem).json", "\(later.stem).wav"])
    }
}
