import Control
import Takes
import Testing
import Transport

@testable import Commands

@Suite struct WatchTests {
    private static let script: @Sendable (ControlServer, Int) -> Bool = { server, _ in
        var status = recordingStatus
        status.elapsedSeconds = 83.5
        status.levelDBFS = [Level(peak: -6, rms: -12)]
        server.publish(levels: status)
        server.publish(TakeChange(.committed, take: "heron07-0042-061811Z"))
        status.state = .idle
        status.armed = true
        server.publish(status)
        return true
    }

    /// Watches until the output contains `last`.
    private func watch(
        _ recorder: DeskRecorder, until last: String, arguments: [String] = [], on console: PaperConsole
    ) -> (status: Int32, output: [String], complaints: [String]) {
        let signals = PaperSignals()
        console.onWrite = { if $0.contains(last) { signals.send(.end) } }
        return run(["watch"] + arguments, at: recorder, console: console, signals: signals)
    }

    @Test func `without a terminal each change is a line, and levels at most one a second`() throws {
        let recorder = try DeskRecorder(watched: Self.script)
        let result = watch(recorder, until: "armed", on: PaperConsole())
        #expect(
            result == (
                0,
                [
                    "recording heron07-0042-061811Z 0:01:23.4, on disk up to 0:01:22.6, peak -12.3 silent dBFS",
                    "committed heron07-0042-061811Z", "idle, armed, peak -6.0 dBFS",
                ], []
            ))
    }

    @Test func `as JSON each event is a line`() throws {
        let recorder = try DeskRecorder(watched: Self.script)
        let result = watch(recorder, until: "\"idle\"", arguments: ["--json"], on: PaperConsole())
        #expect(result.status == 0)
        #expect(
            result.output.map { $0.prefix(24) } == [
                #"{"event":"status","agc":"#, #"{"event":"level","elapse"#, #"{"event":"take","take":""#,
                #"{"event":"status","agc":"#,
            ])
        #expect(
            result.output[1] == #"{"event":"level","elapsed_seconds":83.5,"frames":4003200,"#
                + #""level_dbfs":[{"peak":-6,"rms":-12}],"synced_seconds":82.6}"#)
    }

    @Test func `in a terminal the picture is drawn again in its place, and the cursor comes back`() throws {
        let recorder = try DeskRecorder(watched: Self.script)
        let console = PaperConsole()
        console.isTerminal = true
        let result = watch(recorder, until: "idle", on: console)
        #expect(result.status == 0)
        #expect(
            console.output == """
                \u{1b}[?25l\
                \rrecording heron07-0042-061811Z 0:01:23.>\u{1b}[K
                \r   -60    -40      -20         0 dBFS\u{1b}[K
                \r 1 █████████████████▒▒▒▒▒▒······   -12.3\u{1b}[K
                \r 2 ·····························       -\u{1b}[K
                \u{1b}[J\
                \u{1b}[4A\rrecording heron07-0042-061811Z 0:01:23.>\u{1b}[K
                \r   -60    -40      -20         0 dBFS\u{1b}[K
                \r 1 ███████████████████████▒▒▒···    -6.0\u{1b}[K
                \u{1b}[J\
                \u{1b}[3A\ridle, armed\u{1b}[K
                \r   -60    -40      -20         0 dBFS\u{1b}[K
                \r 1 ███████████████████████▒▒▒···    -6.0\u{1b}[K
                \u{1b}[J\u{1b}[?25h
                """)
    }

    @Test func `a recorder that restarts is found again`() throws {
        let recorder = try DeskRecorder(watched: { server, life in
            guard life > 1 else { return false }
            return Self.script(server, life)
        })
        let result = watch(recorder, until: "armed", on: PaperConsole())
        #expect(result.status == 0)
        #expect(result.output.count == 4)
        #expect(
            result.complaints == [
                "watch: the recorder has gone: waiting for it", "watch: the recorder is there again",
            ])
    }

    @Test func `Ctrl-Z shows the cursor again while it is stopped, and another size redraws the screen`() throws {
        let recorder = try DeskRecorder()
        let console = PaperConsole()
        console.isTerminal = true
        let signals = PaperSignals()
        signals.send(.suspend)
        signals.send(.resize)
        signals.send(.end)
        #expect(run(["watch"], at: recorder, console: console, signals: signals).status == 0)
        #expect(signals.suspensions == 1)
        let picture = """
            \rrecording heron07-0042-061811Z 0:01:23.>\u{1b}[K
            \r   -60    -40      -20         0 dBFS\u{1b}[K
            \r 1 █████████████████▒▒▒▒▒▒······   -12.3\u{1b}[K
            \r 2 ·····························       -\u{1b}[K
            \u{1b}[J
            """
        #expect(
            console.output
                == "\u{1b}[?25l\(picture)\u{1b}[?25h\u{1b}[?25l\(picture)\(picture)\u{1b}[?25h")
    }
}
