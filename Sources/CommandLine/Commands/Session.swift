import Control
public import Takes
import Transport

/// The environment of a command: its output, this machine, and the services' sockets.
public struct Session {
    public var console: any Console
    /// Access to this machine without the recorder.
    public var access: LocalAccess
    public var clock: any Clock
    /// Opens the signals that end `watch`.
    public var signals: () throws(Failure) -> any Signals
    /// How long `watch` waits before it connects again.
    public var retry: Duration
    /// The file descriptor of a person's answers, a terminal or not.
    public var input: Int32 = 0

    var options = GlobalOptions()

    /// The defaults fit a person at this machine.
    public init(
        console: any Console = SystemConsole(), access: LocalAccess = .machine,
        clock: any Clock = SystemClock(), retry: Duration = .seconds(1),
        signals: @escaping () throws(Failure) -> any Signals = { () throws(Failure) in try SystemSignals() }
    ) {
        self.console = console
        self.access = access
        self.clock = clock
        self.retry = retry
        self.signals = signals
    }

    /// Connects to the recorder at `--socket`, or else at the socket of the settings.
    func connect() throws(Failure) -> ControlClient {
        let path: String
        if let socket = options.socket {
            path = socket
        } else {
            path = try access.places(options.settings).recorderSocket
        }
        do {
            return try ControlClient(path: path, clock: clock)
        } catch {
            throw Failure(error)
        }
    }

    /// Connects to the library at `--library-socket`, or else at the socket of the settings.
    func connectToLibrary() throws(Failure) -> LibraryClient {
        let path: String
        if let socket = options.librarySocket {
            path = socket
        } else {
            path = try access.places(options.settings).librarySocket
        }
        do {
            return try LibraryClient(path: path, clock: clock)
        } catch {
            throw Failure(error)
        }
    }

    /// Connects to the library, or returns nil if it is not running.
    func libraryIfRunning() throws(Failure) -> LibraryClient? {
        do {
            return try connectToLibrary()
        } catch {
            guard error.exitStatus == 69 else { throw error }
            return nil
        }
    }

    /// Sends a request whose reply is a status.
    func askForStatus(_ message: RecorderMessage, timeout: Duration) throws(Failure) -> (Status, JSONValue) {
        let client = try connect()
        do {
            return try client.askForStatus(message, timeout: timeout)
        } catch {
            throw Failure(error)
        }
    }

    func write(line: String) throws(Failure) {
        try console.write(line + "\n")
    }

    /// Writes a reply as JSON, without the keys of the protocol.
    func write(json reply: JSONValue) throws(Failure) {
        guard case .object(var members) = reply else { return try write(line: reply.description) }
        for key in ["id", "ok", "protocol"] { members[key] = nil }
        try write(line: JSONValue.object(members).description)
    }
}
