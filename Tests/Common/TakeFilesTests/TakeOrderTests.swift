import Files
import PowerCuts
import TakePlaces
import Takes
import TestBench
import Testing

@testable import TakeFiles

/// The exact sequence of a take's calls to the disk.
struct TakeOrderTests {
    let scratch = TestFolder(in: .memory)
    let calls: FaultyCalls
    let directory: TakesDirectory

    init() throws {
        calls = FaultyCalls(root: scratch.path + "/takes")
        directory = try TakesDirectory(path: scratch.path + "/takes", files: FileSystem(calls: calls))
        calls.trace = []
    }

    /// The calls since the last use, with short names for the files of the first take.
    func trace() -> [String] {
        defer { calls.trace = [] }
        return calls.trace.map { line in
            line.replacing(#/2026-11-21/heron07-0001(?<place>(-p2)?(-raw)?)_20261121_061811/#) {
                "TAKE\($0.output.place)"
            }
            .replacing("2026-11-21", with: "DAY")
        }
    }

    /// The calls that replace a small file.
    func replaced(_ name: String, _ draft: String, _ folder: String = "DAY") -> [String] {
        [
            "create \(draft)", "write \(draft)", "fsync \(draft)", "fsync \(folder)", "rename \(draft) \(name)",
            "fsync \(name)", "fsync \(folder)",
        ]
    }

    @Test func `a take with a marker, a twin and a split reaches the disk like this, and so does its removal`() throws {
        let draft = replaced("TAKE.json.part", "TAKE.json.part.tmp")
        // A part holds 896 frames: 8192 bytes, minus the header, minus a sixteenth.
        let output = try TakeOutput(directory, keepsUnfiltered: true, splitBytes: 8192)
        #expect(
            trace() == replaced(".number", ".number.tmp", ".") + ["mkdir DAY", "fsync ."] + draft + [
                "create TAKE.wav.part", "write TAKE.wav.part", "create TAKE-raw.wav.part", "write TAKE-raw.wav.part",
                "fsync TAKE.wav.part", "fsync TAKE-raw.wav.part", "fsync DAY",
            ])

        let sound = ["write TAKE.wav.part", "write TAKE-raw.wav.part"]
        try output.append(100, unfiltered: true)
        try output.sync()
        // Sound, headers, sync.
        #expect(trace() == sound + sound + ["fdatasync TAKE.wav.part", "fdatasync TAKE-raw.wav.part"])

        output.note(markers: [Sidecar.Marker(atFrame: 50, note: nil)])
        // Pixels wait until there are 4 KiB of them.
        for count in [4000, 95, 1, 4095] { output.appendPeaks([Int8](repeating: 1, count: count)) }
        #expect(trace() == ["create TAKE.dat.part", "write TAKE.dat.part", "write TAKE.dat.part"])

        try output.append(100, unfiltered: true)
        try output.sync()
        // The headers are written with the first sync of a part, and then every 10 s of sound.
        #expect(trace() == sound + ["fdatasync TAKE.wav.part", "fdatasync TAKE-raw.wav.part"] + draft)

        output.appendPeaks([1])
        #expect(trace() == ["write TAKE.dat.part"])

        let second = ["write TAKE-p2.wav.part", "write TAKE-p2-raw.wav.part"]
        try output.append(1000, unfiltered: true)
        try output.sync()
        var split = sound + sound
        split += [
            "create TAKE-p2.wav.part", "write TAKE-p2.wav.part", "create TAKE-p2-raw.wav.part",
            "write TAKE-p2-raw.wav.part",
        ]
        split += second + second
        split += [
            "fdatasync TAKE.wav.part", "fdatasync TAKE-raw.wav.part", "fdatasync TAKE-p2.wav.part",
            "fdatasync TAKE-p2-raw.wav.part",
        ]
        #expect(trace() == split + draft)

        try output.sync()
        #expect(trace() == ["fdatasync TAKE-p2.wav.part", "fdatasync TAKE-p2-raw.wav.part"])

        output.appendPeaks([0, 0, 0, 0])
        _ = try output.finish(endedBy: .stop, levels: [])
        let names = ["TAKE.wav", "TAKE-raw.wav", "TAKE-p2.wav", "TAKE-p2-raw.wav"]
        var expected = second + ["fsync TAKE-p2.wav.part", "fsync TAKE-p2-raw.wav.part"] + draft
        // The marker is in the first part. The second part has no closing chunks.
        for file in ["TAKE.wav.part", "TAKE-raw.wav.part"] {
            expected += ["write \(file)", "write \(file)", "fsync \(file)"]
        }
        expected += ["write TAKE.dat.part", "write TAKE.dat.part", "fsync TAKE.dat.part"]
        expected += names.flatMap { ["rename \($0).part \($0)", "fsync \($0)"] }
        expected += ["rename TAKE.dat.part TAKE.dat", "fsync TAKE.dat", "fsync DAY"]
        expected += replaced("TAKE.json", "TAKE.json.tmp") + ["remove TAKE.json.part", "fsync DAY"]
        #expect(trace() == expected)

        try directory.remove(output.name)
        let rest = ["TAKE-p2-raw.wav", "TAKE-p2.wav", "TAKE-raw.wav", "TAKE.dat", "TAKE.wav"]
        let removed: [String] = rest.map { "remove \($0)" }
        let begun = ["create TAKE.json.removed", "fsync DAY", "remove TAKE.json", "fsync DAY"]
        #expect(trace() == begun + removed + ["fsync DAY", "remove TAKE.json.removed", "fsync DAY"])
        #expect(try everything(in: directory.path).keys.sorted() == [".lock", ".number"])
    }

    @Test func `on FAT, a file gets a name that is on the disk already`() throws {
        calls.magic = 0x4D44
        let output = try TakeOutput(directory)
        try output.append(100)
        try output.sync()
        _ = trace()
        _ = try output.finish(endedBy: .stop, levels: [])
        let renaming = trace().drop { $0 != "create TAKE.wav" }.prefix(4)
        #expect(renaming == ["create TAKE.wav", "fsync DAY", "rename TAKE.wav.part TAKE.wav", "fsync TAKE.wav"])
    }

    @Test func `on exFAT, a file has a chain of blocks before it has sound`() throws {
        calls.magic = 0x2011_BAB0
        _ = try TakeOutput(directory, keepsUnfiltered: true)
        let begin = trace().drop { $0 != "write TAKE-raw.wav.part" }.dropFirst()
        #expect(
            Array(begin) == [
                "create TAKE.json.part.tmp", "write TAKE.json.part.tmp", "truncate TAKE.wav.part",
                "truncate TAKE.wav.part", "truncate TAKE-raw.wav.part", "truncate TAKE-raw.wav.part",
                "remove TAKE.json.part.tmp", "fsync TAKE.wav.part", "fsync TAKE-raw.wav.part", "fsync DAY",
            ])
        #expect(try everything(in: directory.path).values.allSatisfy { $0.count <= WAVHeader.byteCount })
    }

    @Test(arguments: TakePhase.allCases)
    func `what gets another name was synced before, is synced after it, and then its folder is`(
        phase: TakePhase
    ) {
        let steps = phase.steps
        for (index, step) in steps.enumerated() {
            if step == .side(.rename) { #expect(steps[index...].contains(.syncDay)) }
            guard case .rename(let draft, let document) = step else { continue }
            let folder: TakeStep =
                switch document {
                case .number: .syncTakes
                case .binNote, .binnedSidecar: .syncBin
                default: .syncDay
                }
            #expect(steps[index...].contains(folder))
            // An unreadable draft is not synced.
            if draft == .sidecarPart { continue }
            #expect(steps[..<index].contains(.sync(draft)))
        }
    }

    @Test func `a take of one file reaches the disk like this`() throws {
        let output = try TakeOutput(directory)
        try output.append(100)
        output.note(markers: [Sidecar.Marker(atFrame: 50, note: nil)])
        try output.sync()
        _ = try output.finish(endedBy: .stop, levels: [])
        let sidecar = replaced("TAKE.json.part", "TAKE.json.part.tmp")
        var expected = replaced(".number", ".number.tmp", ".")
        expected += ["mkdir DAY", "fsync ."]
        expected += sidecar
        expected += ["create TAKE.wav.part", "write TAKE.wav.part", "fsync TAKE.wav.part", "fsync DAY"]
        // Sound, header, sync.
        expected += ["write TAKE.wav.part", "write TAKE.wav.part", "fdatasync TAKE.wav.part"]
        expected += sidecar
        // The end: header; the lengths in the sidecar; cue points and header; a waveform without pixels; names; commit.
        expected += ["write TAKE.wav.part", "fsync TAKE.wav.part"]
        expected += sidecar
        expected += ["write TAKE.wav.part", "write TAKE.wav.part", "fsync TAKE.wav.part"]
        expected += ["create TAKE.dat.part", "write TAKE.dat.part", "write TAKE.dat.part", "fsync TAKE.dat.part"]
        expected += ["rename TAKE.wav.part TAKE.wav", "fsync TAKE.wav", "rename TAKE.dat.part TAKE.dat"]
        expected +=
            ["fsync TAKE.dat", "fsync DAY"] + replaced("TAKE.json", "TAKE.json.tmp") + [
                "remove TAKE.json.part", "fsync DAY",
            ]
        #expect(trace() == expected)
    }
}
