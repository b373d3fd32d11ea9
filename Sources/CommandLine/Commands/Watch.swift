import Control
import Glibc
import Takes
import Transport

/// Watches a connection, and connects again when the recorder restarts.
final class Watch {
    private let session: Session
    /// Whether to watch the waveform.
    private let peaks: Bool
    private let signals: any Signals
    private let keys: WatchKeys
    private var client: ControlClient?
    private var view = LiveView(status: Status(version: ""))
    private var screen = LiveScreen()
    private var lineDue: Instant?

    private var console: any Console { session.console }
    private var isLive: Bool { console.isTerminal && !session.options.json }

    init(_ session: Session, peaks: Bool = false) throws(Failure) {
        self.session = session
        self.peaks = peaks
        signals = try session.signals()
        keys = WatchKeys(session.input)
    }

    func run() throws(Failure) {
        try connect()
        if isLive { try takeScreen() }
        defer {
            // If the output failed, no picture has to be removed.
            if isLive { try? leaveScreen() }
        }
        try showStatus()
        while true {
            // Events that arrived together with the reply do not make the socket readable again.
            try follow()
            if isEndedByKey() { return }
            while let signal = signals.next() {
                guard try handle(signal) else { return }
            }
        }
    }

    private func takeScreen() throws(Failure) {
        keys.begin()
        try console.write(LiveScreen.begin)
    }

    /// Restores the terminal, and removes the picture.
    private func leaveScreen() throws(Failure) {
        keys.end()
        try console.write(screen.clear() + LiveScreen.end)
    }

    private func connect() throws(Failure) {
        let client = try session.connect()
        do {
            view.status = try client.askForStatus(.watch(peaks: peaks)).0
        } catch {
            throw Failure(error)
        }
        view.hold = PeakHold()
        view.hold.update(view.status.levelDBFS, at: session.clock.now())
        self.client = client
    }

    /// Waits for an event, a signal or a key, or without a connection until the next attempt.
    /// - Returns: whether a person pressed q.
    private func isEndedByKey() -> Bool {
        var files = [signals.fileDescriptor, keys.fileDescriptor, client?.fileDescriptor ?? -1].map {
            pollfd(fd: $0, events: Int16(POLLIN), revents: 0)
        }
        let limit = client == nil ? Int32(session.retry.nanoseconds / 1_000_000) : -1
        unsafe poll(&files, nfds_t(files.count), limit)
        return files[1].revents != 0 && keys.isQuit()
    }

    /// Returns false to end.
    private func handle(_ signal: SignalKind) throws(Failure) -> Bool {
        switch signal {
        case .end: return false
        case .suspend:
            if isLive { try leaveScreen() }
            signals.suspend()
            if isLive { try takeScreen() }
        case .resize:
            // The terminal may have wrapped the previous lines, so their number is unknown.
            screen.reset()
        }
        if isLive { try draw() }
        return true
    }

    /// Shows new events, or connects again.
    private func follow() throws(Failure) {
        if client == nil { try reconnect() }
        guard let client else { return }
        while true {
            let next: (Event, line: String)?
            do {
                next = try client.nextEvent(until: Instant(nanoseconds: 0))
            } catch {
                self.client = nil
                return try note("the recorder has gone: waiting for it")
            }
            guard let (event, line) = next else { return }
            view.update(event, at: session.clock.now())
            try show(event, line)
        }
    }

    private func reconnect() throws(Failure) {
        do {
            try connect()
        } catch {
            // Only a recorder that is not running is expected to come back.
            guard error.exitStatus == 69 else { throw error }
            return
        }
        try note(nil)
        try showStatus()
    }

    /// Reports the state of the connection. Nil means that it is restored.
    private func note(_ notice: String?) throws(Failure) {
        view.notice = notice
        if isLive {
            try draw()
        } else {
            console.complain("watch: \(notice ?? "the recorder is there again")")
        }
    }

    private func showStatus() throws(Failure) {
        let event = Event.status(view.status)
        try show(event, event.line ?? "")
    }

    private func show(_ event: Event, _ line: String) throws(Failure) {
        if session.options.json { return try session.write(line: line) }
        if case .take(let change) = event {
            // The live picture shows only the recorder's current state.
            if !isLive { try session.write(line: "\(change.what.rawValue) \(change.take)") }
            return
        }
        if isLive { return try draw() }
        let now = session.clock.now()
        if case .level = event, let lineDue, now < lineDue { return }
        lineDue = now + .seconds(1)
        try session.write(line: view.line)
    }

    private func draw() throws(Failure) {
        let glyphs = console.showsUnicode ? Meter.Glyphs.unicode : .ascii
        try console.write(screen.draw(view.lines(width: console.width, glyphs: glyphs)))
    }
}
