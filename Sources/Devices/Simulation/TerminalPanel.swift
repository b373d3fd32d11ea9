public import Panel
public import Takes

/// The panel in a terminal: keys are its buttons, and a picture shows its lamps and more.
public final class TerminalPanel {
    private let terminal: Terminal
    private let messages: Messages
    private let scrollsMessages: Bool
    private var reader = KeyReader()
    private var display = Display()
    private var shown: Indication?
    private var screen = PanelScreen()
    private var picture = PanelPicture()
    private var isOpen = false
    private var nextDrawing = Instant(nanoseconds: 0)

    /// The time between two drawings of the levels.
    private static let interval = Duration.milliseconds(100)

    /// - Parameters:
    ///   - messages: the source of the panel's last line.
    ///   - scrollsMessages: whether each message also stays above the panel.
    public init(_ terminal: Terminal, messages: Messages, scrollsMessages: Bool) {
        self.terminal = terminal
        self.messages = messages
        self.scrollsMessages = scrollsMessages
    }

    deinit {
        end()
    }

    /// Readable (for `poll`) when there are keys.
    public var fileDescriptor: Int32 { terminal.fileDescriptor }

    /// Takes control of the terminal until `end`.
    /// - Throws: an error whose description is one sentence.
    public func begin() throws {
        try terminal.begin()
        isOpen = true
        messages.open()
        write(PanelScreen.begin)
    }

    /// The pressed keys, or `quit` if the terminal has closed.
    public func keys() -> [PanelKey] {
        guard let bytes = terminal.read() else { return [.quit] }
        return reader.keys(in: bytes)
    }

    /// Draws the lamps and the readout, if something changed or the interval has passed.
    /// - Parameter readout: called only when something is drawn.
    /// - Returns: the latest time for the next call.
    public func show(_ indication: Indication, at now: Instant, readout: () -> PanelReadout) -> Instant? {
        guard isOpen else { return nil }
        if indication != shown {
            shown = indication
            display.show(indication, at: now)
        }
        let lit = display.lit(at: now)
        let news = messages.take()
        if lit != picture.lit || !news.isEmpty || now >= nextDrawing {
            picture.lit = lit
            picture.readout = readout()
            draw(news)
            nextDrawing = now + Self.interval
        }
        return min(nextDrawing, display.nextChange(after: now) ?? nextDrawing)
    }

    /// Draws the panel a last time, dark and with the last message, and restores the terminal. Does nothing if the
    /// panel is not open.
    public func end() {
        guard isOpen else { return }
        isOpen = false
        picture.lit = []
        picture.readout = PanelReadout()
        picture.readout.state = "ended"
        draw(messages.close())
        write(PanelScreen.end)
        terminal.end()
    }

    private func draw(_ news: [String]) {
        if let last = news.last { picture.message = last }
        let (columns, rows) = terminal.size
        let lines = picture.lines(columns: columns, glyphs: terminal.showsUnicode ? .unicode : .ascii)
        let text = screen.draw(
            // A picture that is taller than the terminal could not be redrawn in place.
            Array(lines.prefix(max(1, rows - 1))), above: scrollsMessages ? news : [], columns: columns)
        write(text)
    }

    private func write(_ text: String) {
        if !terminal.write(text) { screen.tear() }
    }
}
