import Control
import Glibc
import Takes
import TestBench
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
                \u{1b}[J\u{1b}[3A\r\u{1b}[J\u{1b}[?25h
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

    /// A pseudo-terminal (pts(4)): `person` is the end of its keyboard.
    private final class Terminal {
        let person: Int32
        let program: Int32

        init() throws {
            var (person, program): (Int32, Int32) = (-1, -1)
            let opened = unsafe openpty(&person, &program, nil, nil, nil)
            (self.person, self.program) = (person, program)
            try #require(opened == 0)
        }

        deinit {
            for end in [person, program] { close(end) }
        }

        func type(_ keys: String) {
            let bytes = Array(keys.utf8)
            let count = unsafe Glibc.write(person, bytes, bytes.count)
            #expect(count == bytes.count)
        }

        /// Its mode: whether it waits for lines, shows what is typed, and sends signals.
        var flags: tcflag_t {
            var mode = termios()
            unsafe tcgetattr(program, &mode)
            return mode.c_lflag & tcflag_t(ICANON | ECHO | ISIG)
        }
    }

    @Test func `q ends it, and the terminal is as before`() throws {
        let terminal = try Terminal()
        let before = terminal.flags
        var meanwhile: tcflag_t?
        let recorder = try DeskRecorder(watched: Self.script)
        let console = PaperConsole()
        console.isTerminal = true
        console.onWrite = { _ in
            guard meanwhile == nil else { return }
            meanwhile = terminal.flags
            terminal.type("xq")
        }
        let signals = PaperSignals()
        var session = Session(
            console: console, access: bareMachine, clock: TestClock(wallTime: WallTime(microseconds: 0)),
            retry: .milliseconds(2), signals: { () throws(Failure) in signals })
        session.input = terminal.program
        #expect(Fieldfare.run(["--socket", recorder.path, "watch"], in: session) == 0)
        #expect(before == tcflag_t(ICANON | ECHO | ISIG))
        #expect(meanwhile == tcflag_t(ISIG))
        #expect(terminal.flags == before)
        #expect(console.output.hasSuffix("A\r\u{1b}[J\u{1b}[?25h"))
    }

    @Test(arguments: [("q", true), ("Q", true), ("x q", true), ("x", false), ("\u{1b}OQ", false)])
    func `only q is the key that ends, and F2 is not`(keys: String, isQuit: Bool) throws {
        let terminal = try Terminal()
        let watched = WatchKeys(terminal.program)
        #expect(watched.fileDescriptor == -1)
        watched.begin()
        #expect(watched.fileDescriptor == terminal.program)
        terminal.type(keys)
        var file = pollfd(fd: watched.fileDescriptor, events: Int16(POLLIN), revents: 0)
        unsafe poll(&file, 1, 60_000)
        #expect(watched.isQuit() == isQuit)
        watched.end()
        #expect(watched.fileDescriptor == -1)
    }

    @Test func `an input that is no terminal has no keys`() throws {
        var ends: [Int32] = [-1, -1]
        unsafe pipe(&ends)
        defer { for end in ends { close(end) } }
        let keys = WatchKeys(ends[0])
        keys.begin()
        #expect(keys.fileDescriptor == -1)
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
        let end = "\u{1b}[4A\r\u{1b}[J\u{1b}[?25h"
        #expect(
            console.output
                == "\u{1b}[?25l\(picture)\(end)\u{1b}[?25l\(picture)\(picture)\(end)")
    }
}
