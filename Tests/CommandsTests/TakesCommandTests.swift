import Filters
import Glibc
import TakeFiles
import Takes
import Testing
import Transport

@testable import Commands

/// `takes`, `show` and `delete`, on real folders.
@Suite final class TakesCommandTests {
    private let scratch = ScratchFolder()
    private var folder: String { scratch.path }
    private var path: String { folder + "/takes" }
    private let files = FileSystem()

    private let format = StreamFormat(rateHz: 48_000, channels: 2, sampleFormat: .s16)

    /// A finished take of two seconds, with everything that can happen to one.
    @discardableResult
    private func record(_ change: (TakeOutput, inout Sidecar) -> Void = { _, _ in }) throws -> TakeName {
        let directory = try TakesDirectory(path: path)
        let started = WallTime(microseconds: 1_795_241_891_250_000)
        let name = try directory.nextTake(kit: "heron07", started: started)
        let sidecar = Sidecar(
            name: name, started: started, startedMonotonic: Instant(nanoseconds: 0), bootID: "boot", clock: .ntp,
            card: "usb:0d8c:0014", format: format, preRollFrames: 0, gainDB: 12, agc: false, version: "0",
            startedBy: .button)
        let output = try TakeOutput(
            in: directory, name: name, sidecar: sidecar, started: started, format: format, keepsUnfiltered: true)
        let bytes = [UInt8](repeating: 3, count: 96_000 * 4)
        try unsafe bytes.withUnsafeBytes { try unsafe output.append($0, unfiltered: $0) }
        output.note(
            .filter(Sidecar.FilterChange(atFrame: .first, lowPassHz: 21600, slopeDBPerOctave: 24, highPassHz: nil)))
        var finished = sidecar
        finished.endedBy = .stop
        var after = finished
        change(output, &after)
        _ = try output.finish(
            endedBy: .stop,
            levels: [
                Sidecar.Levels(peakDBFS: -3.5, rmsDBFS: -20, clippedFrames: 0, filterClippedFrames: 0),
                Sidecar.Levels(peakDBFS: nil, rmsDBFS: nil, clippedFrames: 0, filterClippedFrames: 0),
            ])
        if after != finished {
            _ = try directory.revise(name) { sidecar in
                sidecar.clock = after.clock
                sidecar.startedCorrected = after.startedCorrected
                sidecar.endedBy = after.endedBy
                sidecar.recovered = after.recovered
                sidecar.pendingFormat = after.pendingFormat
            }
        }
        return name
    }

    /// A kit whose recorder is down, and whose settings name this folder.
    private var kit: LocalAccess {
        let path = path
        return LocalAccess(
            places: { _ in
                var places = LocalAccess.Places()
                places.recorderSocket = "/tmp/fieldfare-missing/recorder.sock"
                places.takes = path
                return places
            }, problems: { _ in [] }, list: { _, _ in [] })
    }

    /// A recorder that keeps its takes here.
    private func recorder() throws -> DeskRecorder {
        let recorder = try DeskRecorder()
        let path = path
        recorder.received.directory.withLock { $0 = path }
        return recorder
    }

    // MARK: takes

    @Test func `takes are listed from the folder, each with what is unusual, while the recorder is down`() throws {
        try record()
        try record { output, sidecar in
            output.note(.marker(at: TakeFrame(100), note: "a wren"))
            output.note(.gap(at: TakeFrame(200), frames: 10, cause: .xrun))
            sidecar.clock = .unset
            sidecar.endedBy = .powerCut
            sidecar.recovered = true
            sidecar.pendingFormat = "flac"
        }
        #expect(
            run(["takes"], access: kit) == (
                0,
                [
                    "heron07-0001-061811Z  2026-11-21 06:18:11   0:00:02.0",
                    "heron07-0002-061811Z  2026-11-21 06:18:11?  0:00:02.0  1 marker, 1 gap, ended by power-cut, recovered, "
                        + "to be converted to flac",
                ], []
            ))
    }

    @Test func `as JSON they are one object, by the names of the sidecar`() throws {
        let take = try record { _, sidecar in sidecar.startedCorrected = "2026-11-21T07:18:11.000000Z" }
        #expect(
            run(["takes", "--json"], access: kit) == (
                0,
                [
                    "{\"directory\":\"\(path)\",\"takes\":[{\"channels\":2,\"clock\":\"ntp\",\"duration_seconds\":2,"
                        + "\"ended_by\":\"stop\",\"files\":[\"\(take.stem).wav\",\"\(take.stem)-raw.wav\"],"
                        + "\"format\":\"S16_LE\",\"frames\":96000,\"kit\":\"heron07\",\"number\":1,\"pending_format\":null,"
                        + "\"rate_hz\":48000,\"recovered\":false,\"revision\":2,"
                        + "\"started\":\"2026-11-21T06:18:11.250000Z\","
                        + "\"started_corrected\":\"2026-11-21T07:18:11.000000Z\",\"take\":\"\(take.stem)\"}]}"
                ], []
            ))
    }

    @Test func `the recorder says where its takes are, and a person may name another folder`() throws {
        let take = try record()
        let recorder = try recorder()
        #expect(run(["takes"], at: recorder).output.first?.hasPrefix(take.stem) == true)
        #expect(run(["takes", "--directory", path + "/"], at: recorder).output.count == 1)
        #expect(
            run(["takes", "--directory", "/nowhere"], at: recorder)
                == (66, [], ["takes: /nowhere: it is not there"]))
        #expect(recorder.commands == [])
    }

    @Test func `a take that is being recorded is none, and a folder without takes is reported as one`() throws {
        let directory = try TakesDirectory(path: path)
        #expect(run(["takes"], access: kit) == (0, ["\(path): no takes"], []))
        #expect(run(["takes", "--json"], access: kit) == (0, ["{\"directory\":\"\(path)\",\"takes\":[]}"], []))
        let name = try directory.nextTake(kit: "heron07", started: WallTime(microseconds: 0))
        let sidecar = Sidecar(
            name: name, started: WallTime(microseconds: 0), startedMonotonic: Instant(nanoseconds: 0), bootID: "",
            clock: .ntp, card: "card:Mic", format: format, preRollFrames: 0, gainDB: nil, agc: nil, version: "0")
        let output = try TakeOutput(
            in: directory, name: name, sidecar: sidecar, started: WallTime(microseconds: 0), format: format)
        #expect(run(["takes"], access: kit) == (0, ["\(path): no takes"], []))
        _ = output
    }

    @Test func `a sidecar that cannot be read is named, and the others are listed`() throws {
        let first = try record()
        let second = try record()
        let sidecar = "\(path)/\(first.day)/\(first.stem).json"
        try files.write(Array("{".utf8), to: files.create(sidecar, isNew: false), at: 0)
        let sentence = "takes: read \(sidecar): not a sidecar: not JSON"
        let result = run(["takes"], access: kit)
        #expect(result.status == 65)
        #expect(result.output.map { $0.prefix(20) } == [second.stem[...]])
        #expect(result.complaints == [sentence, "takes: 1 take cannot be read"])
        let json = run(["takes", "--json"], access: kit)
        #expect(json.output[0].contains("\"error\":\"\(sentence)\",\"take\":\"\(first.stem)\"},{"))
    }

    @Test func `a folder that this user may not read is exit status 77`() throws {
        guard geteuid() != 0 else { return }
        try record()
        unsafe chmod(path, 0)
        defer { unsafe chmod(path, 0o755) }
        #expect(
            run(["takes"], access: kit)
                == (77, [], ["takes: list \(path): Permission denied: is this user in the group 'fieldfare'?"]))
    }

    // MARK: show

    @Test func `show prints all that is known of a take`() throws {
        let take = try record { output, sidecar in
            output.note(.marker(at: TakeFrame(48_000), note: "a wren\u{1b}[2J"))
            output.note(.marker(at: TakeFrame(72_000), note: nil))
            output.note(.gap(at: TakeFrame(24_000), frames: 480, cause: .xrun))
            output.note(
                .suspectedLoss(
                    Sidecar.SuspectedLoss(
                        afterFrame: TakeFrame(0), beforeFrame: TakeFrame(96_000), frames: 48, confidence: 1)))
            output.note(
                .filter(
                    Sidecar.FilterChange(
                        atFrame: TakeFrame(48_000), lowPassHz: 8000, slopeDBPerOctave: 48, highPassHz: 40)))
            sidecar.clock = .unset
            sidecar.startedCorrected = "2026-11-21T07:18:11.000000Z"
            sidecar.pendingFormat = "flac"
        }
        let expected = [
            "take       \(take.stem), revision 2", "folder     \(path)/2026-11-21",
            "started    2026-11-21 07:18:11.000000 UTC, worked out when the clock was set later",
            "started    2026-11-21 06:18:11.250000 UTC, by a clock that was not set",
            "length     0:00:02.0, 96000 frames", "ended      by stop, begun by button",
            "card       usb:0d8c:0014, 48000 Hz, 2 channels, S16_LE, gain 12 dB, AGC off",
            "filter     low-pass 21600 Hz, no high-pass, 24 dB/octave",
            "filter     from 0:00:01.0 on: low-pass 8000 Hz, high-pass 40 Hz, 48 dB/octave",
            "level 1    peak -3.5, RMS -20.0 dBFS", "level 2    peak silent, RMS silent dBFS",
            "part 1     \(take.stem).wav, 388.2 kB, 0:00:02.0", "           \(take.stem)-raw.wav, 388.2 kB, unfiltered",
            "gap        0:00:00.5  480 frames, 10 ms silent: xrun",
            "suspected  between 0:00:00.0 and 0:00:02.0  48 frames, not filled in",
            "marker     0:00:01.0  a wren [2J", "marker     0:00:01.5",
            "pending    it is still to be converted to flac: its files will be replaced",
        ]
        for reference in [take.stem, "1", "last"] {
            #expect(run(["show", reference], access: kit) == (0, expected, []))
        }
        #expect(run(["show", "1", "--directory", path]).status == 0)
    }

    @Test func `what is too much to read is counted`() throws {
        try record { output, _ in
            for index in 0..<25 { output.note(.marker(at: TakeFrame(Int64(index)), note: nil)) }
        }
        let markers = run(["show", "1"], access: kit).output.filter { $0.hasPrefix("marker") }
        #expect(markers.count == 21)
        #expect(markers.last == "marker     and 5 more: see 'fieldfare show --json'")
    }

    @Test func `as JSON it is the sidecar, and its folder`() throws {
        let take = try record()
        let result = run(["show", "last", "--json"], access: kit)
        #expect(result.status == 0)
        #expect(result.output.count == 1)
        #expect(result.output[0].contains("\"folder\":\"\(path)/2026-11-21\""))
        #expect(result.output[0].contains("\"take\":\"\(take.stem)\""))
        #expect(result.output[0].contains("\"clock_map\":[]"))
    }

    @Test func `a take that is not there is exit status 66, and a number of two takes 65`() throws {
        #expect(run(["show", "last"], access: kit) == (66, [], ["show: \(path): it is not there"]))
        let take = try record()
        #expect(run(["show", "7"], access: kit) == (66, [], ["show: 7: no such take in \(path)"]))
        #expect(run(["show", "heron08"], access: kit) == (66, [], ["show: heron08: no such take in \(path)"]))
        let copy = "\(path)/\(take.day)/wren-0001-061811Z.json"
        try files.write(
            files.contents("\(path)/\(take.day)/\(take.stem).json"), to: files.create(copy, isNew: true), at: 0)
        #expect(
            run(["show", "1"], access: kit) == (
                65, [],
                [
                    "show: 1: there are 2: 2026-11-21/heron07-0001-061811Z, 2026-11-21/wren-0001-061811Z: "
                        + "name one by its stem"
                ]
            ))
        #expect(run(["show", take.stem], access: kit).status == 0)
    }

    // MARK: delete

    @Test func `delete asks, and discards by stem what is agreed to`() throws {
        let (first, second) = (try record(), try record())
        let recorder = try recorder()
        let console = PaperConsole()
        console.typed = "n"
        #expect(run(["delete", "1", "last"], at: recorder, console: console).output == ["nothing is deleted"])
        #expect(console.questions == ["Delete these 2 takes for good? [y/N]"])
        #expect(
            console.complaints == [first, second].map { "\($0.stem)  2026-11-21 06:18:11   0:00:02.0" })
        #expect(recorder.commands == [])
        console.typed = "Y"
        console.output = ""
        #expect(run(["delete", "1"], at: recorder, console: console).output == ["deleted \(first.stem)"])
        #expect(console.questions.last == "Delete this take for good? [y/N]")
        #expect(recorder.commands == [.discard(stem: first.stem)])
    }

    @Test func `delete --yes does not ask, and a take that is named twice is deleted once`() throws {
        let (first, second) = (try record(), try record())
        let recorder = try recorder()
        let result = run(["delete", "--yes", "1", second.stem, "last"], at: recorder)
        #expect(result == (0, ["deleted \(first.stem)", "deleted \(second.stem)"], []))
        #expect(recorder.commands == [.discard(stem: first.stem), .discard(stem: second.stem)])
    }

    @Test func `without a terminal and --yes nothing is deleted`() throws {
        try record()
        let recorder = try recorder()
        let result = run(["delete", "1"], at: recorder)
        #expect(result.status == 64)
        #expect(
            result.complaints.last
                == "fieldfare delete: the input is not a terminal: add --yes to delete without a question")
        #expect(recorder.commands == [])
    }

    @Test func `where one take cannot be found none is deleted`() throws {
        try record()
        let recorder = try recorder()
        #expect(
            run(["delete", "--yes", "1", "9"], at: recorder) == (66, [], ["delete: 9: no such take in \(path)"]))
        #expect(recorder.commands == [])
    }

    @Test func `a take that the recorder refuses to delete is named, and the others are deleted`() throws {
        let (first, second) = (try record(), try record())
        let recorder = try recorder()
        recorder.received.played.withLock { $0 = [first.stem] }
        let sentence = "discard: \(first.stem) is being played: stop it first"
        #expect(
            run(["delete", "--yes", "1", "2"], at: recorder) == (75, ["deleted \(second.stem)"], [sentence]))
        #expect(
            run(["delete", "--yes", "--json", "1", "2"], at: recorder) == (
                75,
                [
                    "{\"deleted\":[\"\(second.stem)\"],\"failed\":[{\"message\":\"\(sentence)\",\"take\":\"\(first.stem)\"}]}"
                ], [sentence]
            ))
    }

    @Test func `delete needs the recorder`() throws {
        try record()
        let result = run(["delete", "--yes", "1"], access: kit)
        #expect(result.status == 69)
        #expect(result.output == [])
    }
}
