import Control
import Synchronization
import Takes
import Testing
import Transport

@testable import Commands

/// Commands from their arguments to the recorder and back.
@Suite struct FieldfareTests {
    private let statusLine =
        "{\"agc\":null,\"armed\":false,\"card\":\"usb:0d8c:0014\",\"channels\":2,\"clock\":\"ntp\",\"directory\":\"/nowhere/takes\",\"elapsed_seconds\":83.4,\"expand\":false,"
        + "\"faults\":[],\"format\":\"S24_3LE\",\"frames\":4003200,\"free_bytes\":12345678901,\"gain_db\":null,\"gain_range_db\":null,\"gaps\":0,"
        + "\"high_pass_hz\":null,\"kit_id\":null,\"level_dbfs\":[{\"peak\":-12.34,\"rms\":-24},{\"peak\":null,\"rms\":null}],"
        + "\"low_pass_hz\":21600,\"pairing\":false,\"pitch_cents\":0,\"position_seconds\":null,\"rate_hz\":48000,\"reserve_bytes\":536870912,"
        + "\"scheduled\":null,\"selected\":\"heron07-0041-060000Z\","
        + "\"slope_db_per_octave\":24,\"speed\":1,\"state\":\"recording\",\"synced_seconds\":82.6,"
        + "\"take\":\"heron07-0042-061811Z\",\"time_left_seconds\":41005,\"version\":\"0\",\"xruns\":0}"

    @Test(arguments: [
        (["record"], Command.record, "recording heron07-0042-061811Z"),
        (["record", "--ago", "12.5"], .recordFrom(.ago(.milliseconds(12_500))), "recording heron07-0042-061811Z"),
        (["record", "--ago", "1m30s"], .recordFrom(.ago(.seconds(90))), "recording heron07-0042-061811Z"),
        (["stop"], .stop, "stopped heron07-0042-061811Z"),
        (["pause"], .pause, "recording heron07-0042-061811Z 0:01:23.4, on disk up to 0:01:22.6"),
        (
            ["skip", "-5"], .skip(seconds: -5),
            "recording heron07-0042-061811Z 0:01:23.4, on disk up to 0:01:22.6"
        ),
        (
            ["skip", "0.5"], .skip(seconds: 0.5),
            "recording heron07-0042-061811Z 0:01:23.4, on disk up to 0:01:22.6"
        ),
        (
            ["skip", "-1m30s"], .skip(seconds: -90),
            "recording heron07-0042-061811Z 0:01:23.4, on disk up to 0:01:22.6"
        ),
        (["mark"], .mark(note: nil), "marked heron07-0042-061811Z at 0:01:23.4"),
        (["mark", "an owl"], .mark(note: "an owl"), "marked heron07-0042-061811Z at 0:01:23.4"),
        (["mark", "--", "-5 dB"], .mark(note: "-5 dB"), "marked heron07-0042-061811Z at 0:01:23.4"),
        (
            [
                "mark", "dawn", "--at-frame", "48000", "--end-frame=96000", "--label", "Turdus merula", "--by",
                "birdnet",
                "--score", "0.83", "--low-hz", "1500", "--high-hz=8000",
            ], .mark(MarkRequest(.frame(TakeFrame(48_000)), content: .region)),
            "marked heron07-0042-061811Z at 0:01:23.4"
        ),
        (
            ["mark", "--ago", "2.5"], .mark(MarkRequest(.past(.ago(.milliseconds(2500))), content: .init())),
            "marked heron07-0042-061811Z at 0:01:23.4"
        ),
        (["select", "41"], .select(.number(41)), "selected heron07-0041-060000Z"),
        (["select", "last"], .select(.last), "selected heron07-0041-060000Z"),
        (["volume", "0.5"], .volume(0.5), "volume 0.5"),
        (["pitch", "-1200"], .pitch(cents: -1200), "pitch 0 cents, speed 1"),
        (["pitch", "+1200"], .pitch(cents: 1200), "pitch 0 cents, speed 1"),
        (["speed", "0.1", "--expand"], .speed(factor: 0.1, expands: true), "pitch 0 cents, speed 1"),
        (["speed", "2"], .speed(factor: 2, expands: false), "pitch 0 cents, speed 1"),
        (["gain", "12.5"], .gain(.decibels(12.5), agc: nil), "the card has no capture gain"),
        (["gain", "-6", "--agc", "off"], .gain(.decibels(-6), agc: false), "the card has no capture gain"),
        (["gain", "--agc=off", "--", "-6"], .gain(.decibels(-6), agc: false), "the card has no capture gain"),
        (["gain", "keep"], .gain(.keep, agc: nil), "the card has no capture gain"),
        (["gain", "--agc", "off"], .gain(nil, agc: false), "the card has no capture gain"),
        (
            ["filter"], .filter(lowPass: nil, slopeDBPerOctave: nil, highPass: nil),
            "low-pass 21600 Hz, no high-pass, 24 dB/octave"
        ),
        (
            ["filter", "--low-pass", "8000", "--slope", "48", "--high-pass", "off"],
            .filter(lowPass: .hertz(8000), slopeDBPerOctave: 48, highPass: .off),
            "low-pass 21600 Hz, no high-pass, 24 dB/octave"
        ),
        (
            ["filter", "--low-pass=auto"], .filter(lowPass: .automatic, slopeDBPerOctave: nil, highPass: nil),
            "low-pass 21600 Hz, no high-pass, 24 dB/octave"
        ),
    ])
    func `a command reaches the recorder and prints its result`(
        arguments: [String], command: Command, line: String
    ) throws {
        let recorder = try DeskRecorder()
        let result = run(arguments, at: recorder)
        #expect(result == (0, [line], []))
        #expect(recorder.commands == [command])
    }

    @Test func `gain without an argument asks for the status, and changes nothing`() throws {
        let recorder = try DeskRecorder()
        #expect(run(["gain"], at: recorder) == (0, ["the card has no capture gain"], []))
        #expect(recorder.commands == [])
    }

    @Test func `volume, pitch and speed without an argument print what is in force, and change nothing`() throws {
        let recorder = try DeskRecorder()
        let older = "volume: unknown: the recorder is of version 0, which does not report it"
        #expect(run(["volume"], at: recorder) == (0, [older], []))
        recorder.received.volume.withLock { $0 = 0.25 }
        #expect(run(["volume"], at: recorder) == (0, ["volume 0.25"], []))
        #expect(run(["pitch"], at: recorder) == (0, ["pitch 0 cents, speed 1"], []))
        #expect(run(["speed"], at: recorder) == (0, ["pitch 0 cents, speed 1"], []))
        for command in ["volume", "pitch", "speed"] {
            let (status, output, complaints) = run([command, "--json"], at: recorder)
            #expect(status == 0 && complaints == [])
            let json = try JSONValue(decoding: output.joined().utf8)
            #expect(json["volume"]?.double == 0.25 && json["pitch_cents"]?.integer == 0)
            #expect(json["speed"]?.double == 1 && json["expand"]?.bool == false)
        }
        #expect(
            run(["speed", "--expand"], at: recorder) == (
                64, [], ["fieldfare speed: --expand: is for a new speed: add the factor: see 'fieldfare speed --help'"]
            ))
        #expect(recorder.commands == [])
    }

    @Test func `status is JSON where it is asked for, before or after the command`() throws {
        let recorder = try DeskRecorder()
        for arguments in [["status", "--json"], ["--json", "status"]] {
            #expect(run(arguments, at: recorder) == (0, [statusLine], []))
        }
        #expect(run(["status", "--socket", recorder.path, "--json"]) == (0, [statusLine], []))
        #expect(run(["stop", "--json"], at: recorder) == (0, [statusLine], []))
        #expect(run(["gain", "-6", "--json"], at: recorder) == (0, [statusLine], []))
        #expect(run(["gain", "--json"], at: recorder) == (0, [statusLine], []))
        #expect(run(["skip", "-5", "--json"], at: recorder) == (0, [statusLine], []))
    }

    @Test(
        arguments: [
            (["play", "99"], 66, "play: there is no take 99"),
            (["play"], 75, "play: a take is recorded: stop it first"),
            (
                ["filter", "--low-pass", "90000"], 64,
                "filter: low-pass: found 90000 Hz, allowed is 20 to 21600 Hz at 48000 Hz"
            ),
            (["gain", "90"], 65, "capture: hw:CARD=Mic: cannot set a gain of 90 dB"),
            (["gain", "--agc", "on"], 66, "capture: hw:CARD=Mic: the card lacks it"),
            (["mark", "io"], 74, "mark: the disk failed"), (["mark", "data"], 65, "mark: bad"),
            (["mark", "bug"], 70, "control: the recorder gave no answer"),
        ] as [([String], Int32, String)])
    func `what the recorder refuses is one sentence and its exit status`(
        arguments: [String], status: Int32, sentence: String
    ) throws {
        let recorder = try DeskRecorder()
        #expect(run(arguments, at: recorder) == (status, [], [sentence]))
    }

    @Test(arguments: [
        ([], "fieldfare: a command is missing: see 'fieldfare --help'"),
        (["sing"], "fieldfare: Unexpected argument 'sing': see 'fieldfare --help'"),
        (["stauts"], "fieldfare: stauts: no such command, perhaps 'status' is meant: see 'fieldfare --help'"),
        (["Stop"], "fieldfare: Stop: no such command, perhaps 'stop' is meant: see 'fieldfare --help'"),
        (
            ["--socket", "watch", "recrod", "--ago", "5"],
            "fieldfare: recrod: no such command, perhaps 'record' is meant: see 'fieldfare --help'"
        ),
        (
            ["--settings=status", "stauts", "--is", "idle"],
            "fieldfare: stauts: no such command, perhaps 'status' is meant: see 'fieldfare --help'"
        ),
        (
            ["--socket", "watch", "status", "--loud"],
            "fieldfare status: Unknown option '--loud': see 'fieldfare status --help'"
        ),
        (["skip"], "fieldfare skip: Missing expected argument '<seconds>': see 'fieldfare skip --help'"),
        (
            ["skip", "x"],
            "fieldfare skip: The value 'x' is invalid for '<seconds>': allowed are seconds such as 90 or 1.5, or hours, "
                + "minutes and seconds such as 2h, 1m or 1m30s: see 'fieldfare skip --help'"
        ),
        (["status", "--loud"], "fieldfare status: Unknown option '--loud': see 'fieldfare status --help'"),
        (["select"], "fieldfare select: Missing expected argument '<take>': see 'fieldfare select --help'"),
        (["volume", "1.5"], "fieldfare volume: found 1.5, allowed is a number from 0 to 1"),
        (["pitch", "-2401"], "fieldfare pitch: found -2401, allowed is a whole number from -2400 to 2400"),
        (
            ["pitch", "0.5"],
            "fieldfare pitch: The value '0.5' is invalid for '<cents>': see 'fieldfare pitch --help'"
        ),
        (["speed", "0.04"], "fieldfare speed: found 0.04, allowed is a number from 0.05 to 2"),
        (["speed", "nan"], "fieldfare speed: found nan, allowed is a number from 0.05 to 2"),
        (["gain", "151"], "fieldfare gain: found 151, allowed is a number from -150 to 150, or keep"),
        (["gain", "loud"], "fieldfare gain: The value 'loud' is invalid for '<db>': see 'fieldfare gain --help'"),
        (
            ["gain", "--agc", "maybe"],
            "fieldfare gain: The value 'maybe' is invalid for '--agc <on|off>': see 'fieldfare gain --help'"
        ),
        (["filter", "--slope", "18"], "fieldfare filter: --slope: found 18, allowed is 12, 24, 36 or 48"),
        (
            ["filter", "--high-pass", "auto"],
            "fieldfare filter: --high-pass: found auto, allowed is a frequency in Hz, or off"
        ),
        (
            ["filter", "--low-pass", "low"],
            "fieldfare filter: The value 'low' is invalid for '--low-pass <hz>': see 'fieldfare filter --help'"
        ),
        (
            ["mark", "--at-frame", "1", "--ago", "1"],
            "fieldfare mark: --at-frame and --ago say the same in two ways: give one of them"
        ),
        (["record", "--ago=-1"], "fieldfare record: --ago: found -1.0, allowed are seconds from 0 to 86400"),
        (["mark", "--score", "nan"], "fieldfare mark: score: found nan, allowed is a number from 0 to 1"),
        (["mark", "--ago", "86401"], "fieldfare mark: --ago: found 86401.0, allowed are seconds from 0 to 86400"),
        (["--socket"], "fieldfare: Missing value for '--socket <path>': see 'fieldfare --help'"),
    ])
    func `a mistake in the arguments is one sentence and exit status 64`(arguments: [String], sentence: String) {
        #expect(run(arguments) == (64, [], [sentence]))
    }

    @Test(
        arguments: [
            (["play", "--json"], 75, "busy", "play: a take is recorded: stop it first"),
            (["--json", "play", "99"], 66, "not-found", "play: there is no take 99"),
            (["mark", "io", "--json"], 74, "io", "mark: the disk failed"),
            (["mark", "data", "--json"], 65, "bad-data", "mark: bad"),
            (["volume", "1.5", "--json"], 64, "usage", "fieldfare volume: found 1.5, allowed is a number from 0 to 1"),
            (
                ["status", "--loud", "--json"], 64, "usage",
                "fieldfare status: Unknown option '--loud': see 'fieldfare status --help'"
            ),
            (["status", "--is", "idle", "--json"], 1, "other-state", "status: the recorder's state is recording"),
        ] as [([String], Int32, String, String)])
    func `with --json an error is an object on one line, with the same exit status`(
        arguments: [String], status: Int32, code: String, message: String
    ) throws {
        let recorder = try DeskRecorder()
        let object = "{\"error\":{\"code\":\"\(code)\",\"message\":\"\(message)\"}}"
        #expect(run(arguments, at: recorder) == (status, [], [object]))
    }

    @Test func `a text that looks like --json is none`() throws {
        let recorder = try DeskRecorder()
        #expect(run(["play", "--", "--json"], at: recorder) == (75, [], ["play: a take is recorded: stop it first"]))
        #expect(
            run(["stop", "--json", "--socket", "/tmp/fieldfare-nobody/recorder.sock"]).complaints
                == [
                    #"{"error":{"code":"not-running","message":"control: /tmp/fieldfare-nobody/recorder.sock: the recorder is not "#
                        + #"running (No such file or directory)"}}"#
                ])
    }

    @Test func `stop says that nothing is recorded or played`() throws {
        let recorder = try DeskRecorder()
        recorder.received.isIdle.withLock { $0 = true }
        #expect(run(["stop"], at: recorder) == (0, ["stop: nothing is recorded or played"], []))
    }

    @Test func `a recorder that is down is exit status 69`() {
        let path = "/tmp/fieldfare-nobody/recorder.sock"
        let sentence = "control: \(path): the recorder is not running (No such file or directory)"
        for command in ["status", "watch", "record", "stop"] {
            #expect(run([command, "--socket", path]) == (69, [], [sentence]))
        }
    }

    @Test func `an output that cannot be written is exit status 74`() throws {
        let recorder = try DeskRecorder()
        for arguments in [["status"], ["watch"], ["--help"]] {
            let console = PaperConsole()
            console.isFull = true
            let result = run(arguments, at: recorder, console: console)
            #expect(result == (74, [], ["fieldfare: cannot write the output: disk full"]))
        }
    }

    @Test func `cards come from the recorder, and from the machine while that is down`() throws {
        let recorder = try DeskRecorder()
        #expect(
            run(["cards"], at: recorder) == (
                0,
                [
                    "usb:0d8c:0014 USB Audio Device (usb)", "  also     path:1-1.4, card:Device",
                    "  offers   S16_LE, 1, 2 channels, 44100, 48000 Hz", "  plays    S16_LE, 2 channels, 96000 Hz",
                    "  busy     held by pid 812, pulseaudio", "  busy     held by pid 813, aplay, which plays",
                ], []
            ))
        #expect(
            run(["lines"], at: recorder) == (
                0,
                [
                    "chip        offset  name    direction  used by",
                    "gpiochip0   17      GPIO17  in         fieldfare",
                    "gpiochip0   5       -       out        -", "gpiochip10  0       -       in         somebody",
                ], []
            ))
        let json = run(["lines", "--json"], at: recorder)
        #expect(
            json.output.map { $0.prefix(100) } == [
                #"{"lines":[{"chip":"gpiochip0","consumer":"fieldfare","name":"GPIO17","offset":17,"output":false,"use"#
            ])

        let access = LocalAccess(
            places: { _ in
                var places = LocalAccess.Places()
                places.recorderSocket = "/tmp/fieldfare-nobody/recorder.sock"
                return places
            },
            problems: { _ in [] },
            list: { inventory, _ in inventory == .cards ? [.object(["id": .string("mine")])] : [] })
        #expect(run(["cards"], access: access) == (0, ["mine"], []))
        #expect(run(["lines", "--json"], access: access) == (0, [#"{"lines":[]}"#], []))
        #expect(run(["lines"], access: access) == (0, ["no lines"], []))
    }

    @Test func `a card in use by the recorder is not held by a stranger`() {
        func holders(_ key: String, _ holder: String) -> [String] {
            Listing.lines(.cards, [.object(["id": .string("mine"), key: .string(holder)])]).dropFirst().map {
                String($0)
            }
        }
        // The kernel cuts the name of a process.
        #expect(holders("busy_by", "pid 812, fieldfare-recor") == ["  busy     held by the recorder"])
        #expect(
            holders("playback_busy_by", "pid 812, fieldfare-recor") == ["  busy     held by the recorder, which plays"])
        #expect(holders("busy_by", "pid 812, recorder") == ["  busy     held by pid 812, recorder"])
        #expect(holders("busy_by", "pid 812") == ["  busy     held by pid 812"])
    }

    @Test func `the settings say where the recorder is, and check prints all that is wrong with them`() throws {
        let recorder = try DeskRecorder()
        let path = recorder.path
        let access = LocalAccess(
            places: { file throws(Failure) in
                guard file == "good.toml" else { throw Failure(exitStatus: 78, "settings: bad.toml: no") }
                var places = LocalAccess.Places()
                places.recorderSocket = path
                return places
            },
            problems: { file in file == "good.toml" ? [] : ["\(file ?? "usual"): first", "second"] },
            list: { _, _ in [] })
        #expect(run(["stop", "--settings", "good.toml"], access: access).status == 0)
        #expect(run(["stop", "--settings", "bad.toml"], access: access) == (78, [], ["settings: bad.toml: no"]))
        #expect(
            run(["check", "good.toml"], access: access)
                == (0, ["good.toml does not exist: the defaults are in force"], []))
        var there = access
        there.isThere = { $0 == "good.toml" }
        #expect(run(["check", "good.toml"], access: there) == (0, ["good.toml: nothing is wrong"], []))
        there.preRollShortage = { file, open in "\(file ?? ""): \(open?.summary ?? "no card"): too long" }
        #expect(
            run(["check", "good.toml"], access: there)
                == (0, ["good.toml: no card: too long", "good.toml: nothing else is wrong"], []))
        there.kitNameWarning = { file in "\(file ?? ""): six digits" }
        #expect(
            run(["check", "good.toml"], access: there) == (
                0, ["good.toml: six digits", "good.toml: no card: too long", "good.toml: nothing else is wrong"], []
            ))
        #expect(
            run(["check"], access: access) == (78, ["usual: first", "second"], ["check: 2 problems in the settings"]))
        #expect(
            run(["check", "x", "--json"], access: access)
                == (
                    78, [#"{"problems":["x: first","second"]}"#],
                    [#"{"error":{"code":"bad-settings","message":"check: 2 problems in the settings"}}"#]
                ))
    }

    private static let names =
        ["status", "watch", "record", "stop", "play", "pause", "skip", "mark", "select", "filter", "volume", "pitch"]
        + ["speed", "takes", "show", "title", "memo", "tag", "star", "delete", "cards", "lines", "check"]

    @Test(arguments: ["bash", "zsh", "fish"])
    func `completions know every command and the options`(shell: String) {
        let result = run(["--generate-completion-script", shell])
        #expect(result.status == 0)
        #expect(result.complaints == [])
        let script = result.output.joined(separator: "\n")
        for name in Self.names + ["low-pass", "json", "socket", "library-socket", "elsewhere", "reverse"] {
            #expect(script.contains(name), "\(name)")
        }
    }

    @Test func `help lists every command, and knows each`() {
        let help = run(["--help"])
        #expect(help.status == 0)
        for name in Self.names {
            #expect(help.output.contains { $0.hasPrefix("  \(name) ") }, "\(name)")
            let result = run([name, "--help"])
            #expect(result.status == 0)
            #expect(result.output.contains { $0.contains("USAGE: fieldfare \(name)") }, "\(name)")
        }
        #expect(run(["--version"]) == (0, [fieldfareVersion], []))
    }
}

extension Sidecar.Marker.Content {
    /// A marker that a program set.
    fileprivate static var region: Sidecar.Marker.Content {
        var content = Sidecar.Marker.Content(note: "dawn")
        content.endFrame = TakeFrame(96_000)
        (content.label, content.by, content.score) = ("Turdus merula", "birdnet", 0.83)
        (content.lowHz, content.highHz) = (1500, 8000)
        return content
    }
}
