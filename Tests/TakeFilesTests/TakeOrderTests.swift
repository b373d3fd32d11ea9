import Takes
import Testing

@testable import TakeFiles

/// What the disk sees of a take, call by call, compared with the table and with the table's meaning spelled out.
struct TakeOrderTests {
    let scratch = ScratchFolder()
    let calls: FaultyCalls
    let directory: TakesDirectory

    init() throws {
        calls = FaultyCalls(root: scratch.path + "/takes")
        directory = try TakesDirectory(path: scratch.path + "/takes", files: FileSystem(calls: calls))
        calls.trace = []
    }

    /// The calls that a phase of the table stands for, done to some audio files of the first take.
    func table(_ phase: TakePhase, _ audio: [String] = []) -> [String] {
        let day = "2026-11-21"
        let stem = "heron07-0001-061811Z"
        func path(_ document: TakeDocument) -> String {
            (document == .number || document == .numberDraft ? "" : day + "/") + document.name(stem: stem)
        }
        let parts = audio.map { "\(day)/\($0).part" }
        return phase.steps.flatMap { step in
            switch step {
            case .open: [String]()
            case .create(let document): ["create \(path(document))", "write \(path(document))"]
            case .append(let document), .overwrite(let document): ["write \(path(document))"]
            case .sync(let document): ["fsync \(path(document))"]
            case .rename(let document, let final): ["rename \(path(document)) \(path(final))"]
            case .remove(let document): ["remove \(path(document))"]
            case .removeRest: (audio + ["\(stem).dat"]).sorted().map { "remove \(day)/\($0)" }
            case .createAudio: parts.flatMap { ["create \($0)", "write \($0)"] }
            case .writeHeader, .writeClosing: parts.map { "write \($0)" }
            case .cutAudio: parts.map { "truncate \($0)" }
            case .removeAudio: parts.map { "remove \($0)" }
            case .syncAudioData: parts.map { "fdatasync \($0)" }
            case .syncAudio: parts.map { "fsync \($0)" }
            case .renameAudio: audio.map { "rename \(day)/\($0).part \(day)/\($0)" }
            case .makeDay: ["mkdir \(day)"]
            case .syncDay: ["fsync \(day)"]
            case .syncTakes: ["fsync ."]
            }
        }
    }

    @Test func `a take with a marker, a twin and a split is written in the order of the table, and so is its removal`()
        throws
    {
        let first = ["heron07-0001-061811Z.wav", "heron07-0001-061811Z-raw.wav"]
        let second = ["heron07-0001-061811Z-p2.wav", "heron07-0001-061811Z-p2-raw.wav"]
        let frames = { (audio: [String]) in audio.map { "write 2026-11-21/\($0).part" } }
        var expected = table(.number) + table(.begin, first)

        // A part holds 896 frames: 8192 bytes, less the header, less a sixteenth.
        let output = try TakeOutput(directory, keepsUnfiltered: true, splitBytes: 8192)
        try output.append(100, unfiltered: true)
        try output.sync()
        expected += frames(first) + table(.mark, first) + table(.sync, first)

        output.sidecar.markers.append(Sidecar.Marker(atFrame: 50, note: nil))
        // Pixels wait until there are 4 KiB of them.
        for count in [4000, 95, 1, 4095] { output.appendPeaks([Int8](repeating: 1, count: count)) }
        expected += table(.beginPeaks) + table(.appendPeaks)

        try output.append(100, unfiltered: true)
        try output.sync()
        expected += frames(first) + table(.mark, first) + table(.sync, first) + table(.replaceSidecar)

        output.appendPeaks([1])
        expected += table(.appendPeaks)

        try output.append(1000, unfiltered: true)
        try output.sync()
        expected += frames(first) + table(.mark, first) + table(.split, second) + frames(second)
        expected += table(.mark, second) + table(.sync, first + second) + table(.replaceSidecar)

        try output.sync()
        expected += table(.mark, second) + table(.sync, second)

        output.sidecar.endedBy = .stop
        output.appendPeaks([0, 0, 0, 0])
        _ = try output.finish()
        for phase in TakePhase.finish {
            switch phase {
            // The marker lies in the first part; the second has nothing to be closed with.
            case .close: expected += first.flatMap { table(.close, [$0]) }
            case .reveal: expected += table(.reveal, first + second)
            default: expected += table(phase, second)
            }
        }
        #expect(calls.trace == expected)

        calls.trace = []
        try directory.remove(output.name)
        #expect(calls.trace == table(.discard, first + second))
        #expect(try everything(in: directory.path).keys.sorted() == [".lock", ".number"])
    }

    @Test func `a take of one file reaches the disk like this`() throws {
        let output = try TakeOutput(directory)
        try output.append(100)
        output.sidecar.markers.append(Sidecar.Marker(atFrame: 50, note: nil))
        try output.sync()
        output.sidecar.endedBy = .stop
        _ = try output.finish()
        let short = calls.trace.map { line in
            line.replacing("2026-11-21/heron07-0001-061811Z", with: "TAKE").replacing("2026-11-21", with: "DAY")
        }
        let sidecar = [
            "create TAKE.json.part.tmp", "write TAKE.json.part.tmp", "fsync TAKE.json.part.tmp",
            "rename TAKE.json.part.tmp TAKE.json.part", "fsync DAY",
        ]
        var expected = ["create .number.tmp", "write .number.tmp", "fsync .number.tmp"]
        expected += ["rename .number.tmp .number", "fsync ."]
        expected += ["mkdir DAY", "fsync ."]
        expected += sidecar
        expected += ["create TAKE.wav.part", "write TAKE.wav.part", "fsync TAKE.wav.part", "fsync DAY"]
        // Sound, header, sync.
        expected += ["write TAKE.wav.part", "write TAKE.wav.part", "fdatasync TAKE.wav.part"]
        expected += sidecar
        // The end: header; how long it is; cue points and header; waveform, here of no pixel; names; commit.
        expected += ["write TAKE.wav.part", "fsync TAKE.wav.part"]
        expected += sidecar
        expected += ["write TAKE.wav.part", "write TAKE.wav.part", "fsync TAKE.wav.part"]
        expected += ["create TAKE.dat.part", "write TAKE.dat.part", "write TAKE.dat.part", "fsync TAKE.dat.part"]
        expected += ["rename TAKE.wav.part TAKE.wav", "rename TAKE.dat.part TAKE.dat", "fsync DAY"]
        expected += ["rename TAKE.json.part TAKE.json", "fsync DAY"]
        #expect(short == expected)
    }

    @Test func `the sidecar is the first file of a take to come and to go, and the last to get its name`() {
        for phase in TakePhase.allCases {
            let steps = phase.steps
            switch phase {
            case .begin:
                #expect(
                    steps.firstIndex(of: .rename(.sidecarDraft, to: .sidecarPart))!
                        < steps.firstIndex(of: .createAudio)!)
            case .reveal: #expect(steps.suffix(3) == [.syncDay, .rename(.sidecarPart, to: .sidecar), .syncDay])
            case .discard: #expect(steps.prefix(2) == [.remove(.sidecar), .syncDay])
            case .number, .mark, .sync, .replaceSidecar, .split, .settle, .close, .beginPeaks, .appendPeaks, .peaks,
                .dropPeaks, .revise, .adopt, .setAside, .mend, .dropAudio, .forget:
                #expect(!steps.contains(.rename(.sidecarPart, to: .sidecar)))
                #expect(!steps.contains(.remove(.sidecar)))
            }
        }
    }
}
