import CLinux
import Glibc
import Panel
import Takes
import Testing

@testable import Simulation

/// A pseudo-terminal (pts(4)): one end is a person's screen and keyboard, the other a program's terminal.
private final class Screen {
    private var master: Int32
    let slave: Int32
    private let ringer: Int32

    init() throws {
        var (master, slave): (Int32, Int32) = (-1, -1)
        try #require(openpty(&master, &slave, nil, nil, nil) == 0)
        self.master = master
        self.slave = slave
        ringer = open("/proc/self/fd/\(slave)", O_WRONLY | O_NOCTTY | O_NONBLOCK | O_CLOEXEC)
        try #require(ringer >= 0)
        resize(columns: 80, rows: 24)
    }

    deinit {
        hangUp()
        close(slave)
        close(ringer)
    }

    func resize(columns: UInt16, rows: UInt16) {
        var size = winsize(ws_row: rows, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0)
        #expect(ioctl(master, UInt(TIOCSWINSZ), &size) == 0)
    }

    func type(_ text: String) {
        let bytes = Array(text.utf8)
        #expect(write(master, bytes, bytes.count) == bytes.count)
    }

    /// The output since the last call. It ends with a bell that is rung after it, because the kernel delivers the
    /// output late.
    var drawn: String {
        let bell: UInt8 = 7
        var bytes: [UInt8] = []
        var isRung = false
        while bytes.last != bell {
            // The terminal may have no room for the bell yet.
            if !isRung { isRung = write(ringer, [bell], 1) == 1 }
            guard isReadable(master, within: 60_000) else { return "nothing came in 60 s" }
            var piece = [UInt8](repeating: 0, count: 65536)
            let count = read(master, &piece, piece.count)
            bytes += piece.prefix(max(0, count))
        }
        return String(decoding: bytes.dropLast(), as: UTF8.self)
    }

    func hangUp() {
        if master >= 0 { close(master) }
        master = -1
    }

    var flags: tcflag_t {
        var mode = termios()
        tcgetattr(slave, &mode)
        return mode.c_lflag
    }
}

private func isReadable(_ file: Int32, within milliseconds: Int32 = 0) -> Bool {
    var descriptor = pollfd(fd: file, events: Int16(POLLIN), revents: 0)
    return poll(&descriptor, 1, milliseconds) > 0
}

@Suite struct TerminalPanelTests {
    private let now = Instant(nanoseconds: 1_000_000_000)
    private let messages = Messages()
    private let screen: Screen
    private let panel: TerminalPanel

    init() throws {
        screen = try Screen()
        let terminal = try #require(Terminal(input: screen.slave, output: screen.slave))
        panel = TerminalPanel(terminal, messages: messages, scrollsMessages: true)
    }

    private var recording: Indication {
        var indication = Indication()
        indication.recording = Indication.Recording(safeUntil: now)
        return indication
    }

    private func readout(_ state: String) -> PanelReadout {
        var readout = PanelReadout()
        readout.state = state
        return readout
    }

    @Test func `keys come at once and are not shown, and the terminal is restored`() throws {
        let before = screen.flags
        #expect(before & tcflag_t(ICANON | ECHO) != 0)
        try panel.begin()
        #expect(screen.flags & tcflag_t(ICANON | ECHO) == 0)
        screen.type("r\u{1b}[D")
        #expect(isReadable(panel.fileDescriptor, within: 60_000))
        #expect(panel.keys() == [.record, .back])
        #expect(!screen.drawn.contains("r"))
        panel.end()
        #expect(screen.flags == before)
    }

    @Test func `a terminal that is released without an end is restored too`() throws {
        let before = screen.flags
        do {
            let terminal = try #require(Terminal(input: screen.slave, output: screen.slave))
            try TerminalPanel(terminal, messages: Messages(), scrollsMessages: false).begin()
        }
        #expect(screen.flags == before)
    }

    @Test func `it draws when lamps change, when a message comes, and ten times a second, and then only`() throws {
        try panel.begin()
        var calls = 0
        func show(_ indication: Indication, after: Duration) -> Instant? {
            panel.show(indication, at: now + after) {
                calls += 1
                return readout("state \(calls)")
            }
        }
        let next = show(Indication(), after: .zero)
        #expect(next == now + .milliseconds(100))
        #expect(screen.drawn.contains("state 1"))
        _ = show(Indication(), after: .milliseconds(20))
        #expect(screen.drawn == "")
        _ = show(recording, after: .milliseconds(30))
        let lit = screen.drawn
        #expect(lit.contains("state 2") && lit.contains("\u{1b}[1;31m"))
        #expect(messages.post("record: heron07-0001"))
        _ = show(recording, after: .milliseconds(40))
        let withMessage = screen.drawn
        // Once above the picture, and once in it.
        #expect(withMessage.components(of: "record: heron07-0001") == 2)
        _ = show(recording, after: .milliseconds(200))
        #expect(screen.drawn.contains("state 4"))
        #expect(calls == 4)
    }

    @Test func `at the end it is dark, and nothing more is drawn`() throws {
        try panel.begin()
        _ = panel.show(recording, at: now) { readout("recording") }
        let lit = screen.drawn
        #expect(lit.contains("\u{1b}[1;31m"))
        #expect(messages.post("stop: heron07-0001"))
        panel.end()
        let last = screen.drawn
        #expect(last.contains("stop: heron07-0001") && !last.contains("\u{1b}[1;31m"))
        #expect(last.contains("ended") && !last.contains("recording"))
        #expect(last.hasSuffix("\u{1b}[?25h"))
        #expect(!messages.post("too late"))
        #expect(panel.show(Indication(), at: now + .seconds(1)) { readout("") } == nil)
        #expect(screen.drawn == "")
    }

    @Test func `a picture is no taller than the terminal`() throws {
        screen.resize(columns: 80, rows: 5)
        try panel.begin()
        _ = screen.drawn
        _ = panel.show(Indication(), at: now) { readout("") }
        #expect(screen.drawn.components(of: "\u{1b}[K") == 4)
    }

    @Test func `a terminal that has gone has quit, and is never readable again`() throws {
        try panel.begin()
        screen.hangUp()
        #expect(isReadable(panel.fileDescriptor, within: 60_000))
        #expect(panel.keys() == [.quit])
        #expect(!isReadable(panel.fileDescriptor))
        #expect(panel.show(recording, at: now) { readout("") } != nil)
        panel.end()
    }

    @Test func `a terminal that takes nothing does not block`() throws {
        try panel.begin()
        for step in 1...500 {
            _ = panel.show(recording, at: now + .milliseconds(100 * step)) { readout("state \(step)") }
        }
        #expect(!screen.drawn.contains("state 500"))
        _ = panel.show(recording, at: now + .seconds(60)) { readout("state again") }
        let drawn = screen.drawn
        #expect(drawn.hasPrefix("\u{1b}[2J") && drawn.contains("state again"))
    }

    @Test func `a file that is no terminal is none`() throws {
        let file = open("/dev/null", O_RDWR | O_CLOEXEC)
        defer { close(file) }
        #expect(Terminal(input: file, output: screen.slave) == nil)
        #expect(Terminal(input: screen.slave, output: file) == nil)
        #expect(errorOfMode(of: file) == "panel: terminal: cannot read its mode: Inappropriate ioctl for device")
    }

    private func errorOfMode(of file: Int32) -> String? {
        do throws(SimulationError) {
            let mode = try KeyMode(of: file)
            _ = consume mode
            return nil
        } catch {
            return error.description
        }
    }
}

extension String {
    fileprivate func components(of text: String) -> Int {
        ranges(of: text).count
    }
}
