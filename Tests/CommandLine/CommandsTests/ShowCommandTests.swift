import Files
import TakeFiles
import TakePlaces
import Takes
import TestBench
import Testing
import Transport

@testable import Commands
@testable import Control

/// `show`, from a real folder and from a library.
@Suite final class ShowCommandTests {
    private let folder = KitFolder()
    private var path: String { folder.path }
    private var kit: LocalAccess { folder.access }
    private let files = FileSystem()

    @discardableResult
    private func record(_ change: (TakeOutput, inout Sidecar) -> Void = { _, _ in }) throws -> TakeName {
        try folder.record(change)
    }

    @Test func `show prints all that is known of a take`() throws {
        let take = try record { output, sidecar in
            output.note(.marker(Sidecar.Marker(atFrame: TakeFrame(48_000), note: "a wren\u{1b}[2J")))
            output.note(.marker(Sidecar.Marker(atFrame: TakeFrame(72_000), note: nil)))
            output.note(.gap(at: TakeFrame(24_000), frames: 480, cause: .xrun))
            output.note(
                .suspectedLoss(
                    Sidecar.SuspectedLoss(
                        afterFrame: TakeFrame(0), beforeFrame: TakeFrame(96_000), frames: 48, confidence: 1)))
            output.note(
                .filter(
                    Sidecar.FilterChange(
                        atFrame: TakeFrame(48_000), lowPassHz: 8000, slopeDBPerOctave: 48, highPassHz: 40)))
            output.note(.gain(Sidecar.GainChange(atFrame: TakeFrame(72_000), gainDB: -7.5, agc: true)))
            output.note(.gain(Sidecar.GainChange(atFrame: TakeFrame(84_000), gainDB: 6, agc: nil)))
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
            "gain       from 0:00:01.5 on: -7.5 dB, AGC on", "gain       from 0:00:01.7 on: 6 dB",
            "level 1    peak -3.5, RMS -20.0 dBFS", "level 2    peak silent, RMS silent dBFS",
            "part 1     \(take.stem).wav, 388.2 kB, 0:00:02.0",
            "           \(take.stem.file("-raw.wav")), 388.2 kB, unfiltered",
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

    @Test func `show names the channels of the card that a take has`() throws {
        let take = try record()
        _ = try TakesDirectory(path: path).revise(take) { $0.channelsOfCard = [3, 1] }
        let lines = run(["show", "1"], access: kit).output
        #expect(
            lines.contains { $0.hasPrefix("card       usb:0d8c:0014, 48000 Hz, channels 3, 1 of the card, S16_LE") })
        #expect(run(["show", "1", "--json"], access: kit).output[0].contains(#""channels_of_card":[3,1]"#))
    }

    @Test func `show says that a draft lies beside the sidecar of a finished take, and that it was restored`() throws {
        let take = try record()
        _ = try TakesDirectory(path: path).revise(take) { $0.restored = true }
        let line = "restored   from the bin: it stays until it is deleted again, or its space is needed"
        let before = run(["show", "1"], access: kit).output
        #expect(before.last == line)
        _ = try files.create("\(path)/\(take.day)/\(take.stem).json.part", isNew: true)
        let draft =
            "unfinished a draft of its sidecar is in the same folder: until the recorder has recovered it, it is sent as listed "
            + "here, and not deleted to free space"
        let after = run(["show", "1"], access: kit).output
        #expect(after.filter { $0 != draft } == before && after.contains(draft))
        #expect(run(["show", "1", "--json"], access: kit).output[0].contains(#""unfinished":true"#))
    }

    @Test func `what is too much to read is counted`() throws {
        try record { output, _ in
            for index in 0..<25 { output.note(.marker(Sidecar.Marker(atFrame: TakeFrame(Int64(index)), note: nil))) }
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
        let copy = "\(path)/\(take.day)/wren-0001_20261121_061811.json"
        try files.write(
            files.contents("\(path)/\(take.day)/\(take.stem).json"), to: files.create(copy, isNew: true), at: 0)
        #expect(
            run(["show", "1"], access: kit) == (
                65, [],
                [
                    "show: 1: there are 2: 2026-11-21/heron07-0001_20261121_061811, 2026-11-21/wren-0001_20261121_061811: "
                        + "name one by its stem"
                ]
            ))
        #expect(run(["show", take.stem], access: kit).status == 0)
    }

    // MARK: Waveform

    /// The lines below the last line about the take itself.
    private func waveform(_ console: PaperConsole = PaperConsole()) -> [String] {
        let output = run(["show", "1"], access: kit, console: console).output
        return output.firstIndex { $0.hasPrefix("peaks of") }.map { Array(output[$0...]) } ?? []
    }

    @Test func `the waveform is as wide as the terminal, and says its scale and its length`() throws {
        let take = try record()
        let falling: [Int8] = (0..<20).map { $0.isMultiple(of: 2) ? Int8(-1 - $0 / 2) : 0 }
        let pairs = [Int8](repeating: 0, count: 10) + falling + [-128, 127]
        let peaks = "\(path)/\(take.day)/\(take.stem).dat"
        try files.write(
            PeaksFile(rateHz: 48_000, channels: 1, pairs: pairs).bytes, to: files.create(peaks, isNew: false), at: 0)
        let console = PaperConsole()
        console.width = 32
        #expect(
            waveform(console) == [
                "peaks of all channels, -48 dBFS (bottom) to 0 dBFS (top)",
                "                              ██",
                "                          ▁▁▁▁██",
                "              ▂▂▄▄▅▅▆▆▇▇████████",
                "          ▄▄████████████████████",
                "0:00:00.0              0:00:02.0",
            ])
        console.output = ""
        console.showsUnicode = false
        console.width = 16
        #expect(waveform(console).count == 6)
        #expect(waveform(console).allSatisfy { $0.unicodeScalars.allSatisfy(\.isASCII) })
    }

    @Test func `a waveform that is missing, empty or damaged is no error`() throws {
        let take = try record()
        let peaks = "\(path)/\(take.day)/\(take.stem).dat"
        #expect(waveform() == [])
        try files.write([1, 2, 3], to: files.create(peaks, isNew: false), at: 0)
        #expect(run(["show", "1"], access: kit).status == 0)
        #expect(waveform() == [])
        try files.remove(peaks)
        #expect(run(["show", "1"], access: kit).status == 0)
        #expect(waveform() == [])
    }

    // MARK: Library

    /// The library's entry for a take of the folder.
    private func cataloged(_ name: TakeName) throws -> CatalogedTake {
        var notes = TakeNotes(take: name.stem)
        notes.memo = "a wren\nat\u{1b} dawn"
        notes.tags = ["interview", "river"]
        notes.starred = true
        return CatalogedTake(
            try TakesFolder(path: path).sidecar(of: name), notes: notes, bytes: 1, folder: "\(path)/\(name.day)",
            place: .here)
    }

    @Test func `what was noted stands beside what the folder has`() throws {
        let take = try record()
        let library = try DeskLibrary([cataloged(take)])
        let output = run(["show", "1"], library: library, access: kit).output
        #expect(
            output.prefix(6) == [
                "take       \(take.stem)", "folder     \(path)/2026-11-21", "star       yes",
                "tags       interview, river", "memo       a wren", "           at  dawn",
            ])
        #expect(library.messages == [.show(.stem(take.stem))])
        let line = try #require(run(["show", "1", "--json"], library: library, access: kit).output.first)
        let json = try JSONValue(decoding: line.utf8)
        #expect(json["memo"] == .string("a wren\nat\u{1b} dawn"))
        #expect(json["tags"] == .array([.string("interview"), .string("river")]))
        #expect(json["starred"] == .bool(true))
        #expect(json["place"] == .string("here"))
        #expect(json["clock_map"] == .array([]))
        #expect(run(["show", "1", "--directory", path], library: library).output.count == output.count - 4)
    }

    @Test func `a take that the library does not know yet is shown without notes, and why it does not answer is said`()
        throws
    {
        try record()
        let library = try DeskLibrary()
        let plain = run(["show", "1"], access: kit)
        #expect(run(["show", "1"], library: library, access: kit) == plain)
        library.desk.refusal.withLock { $0 = Refusal(.io, "library: the disk failed") }
        let result = run(["show", "1"], library: library, access: kit)
        #expect(result == (0, plain.output, ["show: without its notes: library: the disk failed"]))
    }

    @Test func `show says where a part is from another card or port than the one before`() throws {
        let take = try record()
        var sidecar = try TakesDirectory(path: path).sidecar(of: take)
        let first = CardPlace(card: "usb:0d8c:0014", port: "1-1")
        let places = [
            nil, first, first, CardPlace(card: "usb:0d8c:0014", port: "1-4"), CardPlace(card: "card:Mic"), nil,
        ]
        let part = sidecar.parts[0]
        sidecar.parts = places.map { place in
            var part = part
            part.place = place
            return part
        }
        let lines = TakeText(sidecar).lines(folder: "f") { _ in nil }
        #expect(
            lines.filter { $0.contains("instead of") } == [
                "           from usb:0d8c:0014 in port 1-4, instead of usb:0d8c:0014 in port 1-1",
                "           from card:Mic, instead of usb:0d8c:0014 in port 1-4",
            ])
    }

    @Test func `a take that is elsewhere is shown from the library`() throws {
        let name = try record()
        var take = try cataloged(name)
        take.place = .elsewhere
        take.folder = "/media/stick/takes/2026-11-21"
        let library = try DeskLibrary([take])
        let sidecar = try JSONValue(decoding: TakesFolder(path: path).sidecarBytes(of: name))
        library.desk.sidecars.withLock { $0[name.stem] = sidecar }
        folder.scratch.remove("takes")
        let result = run(["show", "last"], library: library, access: kit)
        #expect(result.status == 0)
        #expect(
            result.output.prefix(3) == [
                "take       \(name.stem)",
                "folder     /media/stick/takes/2026-11-21, elsewhere: its storage is out", "star       yes",
            ])
        #expect(result.output.contains("part 1     \(name.stem).wav, not there, 0:00:02.0"))
        let json = run(["show", "1", "--json"], library: library, access: kit).output.first ?? ""
        #expect(try JSONValue(decoding: json.utf8)["place"] == .string("elsewhere"))
        #expect(try JSONValue(decoding: json.utf8)["kit"] == .string("heron07"))

        #expect(
            run(["show", "7"], library: library, access: kit) == (66, [], ["show: \(path): it is not there"]))
        library.desk.refusal.withLock { $0 = Refusal(.busy, "library: it still reads the folders") }
        #expect(
            run(["show", "7"], library: library, access: kit) == (75, [], ["library: it still reads the folders"]))
    }
}
