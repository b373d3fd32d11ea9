import Control
public import Takes
import Transport

/// What a command works with: its output, this machine, and the way to the services.
public struct Session {
    /// Where it writes.
    public var console: any Console
    /// This machine, without the recorder.
    public var access: LocalAccess
    /// The source of time.
    public var clock: any Clock
    /// Opens the signals that end `watch`.
    public var signals: () throws(Failure) -> any Signals
    /// How long `watch` waits before it tries to connect again.
    public var retry: Duration
    /// Where a person's answers are read from: a file descriptor, of a terminal or not.
    public var input: Int32 = 0

    var options = GlobalOptions()

    /// A session of a person at this machine, unless said otherwise.
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

    /// Connects to the recorder: at `--socket`, else where the settings say.
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

    /// Connects to the library: at `--library-socket`, else where the settings say.
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

    /// The same; nil: the library is not running.
    func libraryIfRunning() throws(Failure) -> LibraryClient? {
        do {
            return try connectToLibrary()
        } catch {
            guard error.exitStatus == 69 else { throw error }
            return nil
        }
    }

    /// Asks for something that is answered with a status.
    func askForStatus(_ message: RecorderMessage, timeout: Duration) throws(Failure) -> (Status, JSONValue) {
        let client = try connect()
        do {
            return try client.askForStatus(message, timeout: timeout)
        } catch {
            throw Failure(error)
        }
    }

    /// Writes a line.
    func write(line: String) throws(Failure) {
        try console.write(line + "\n")
    }

    /// Writes a reply as JSON, without what belongs to the connection.
    func write(json reply: JSONValue) throws(Failure) {
        guard case .object(var members) = reply else { return try write(line: reply.description) }
        for key in ["id", "ok", "protocol"] { members[key] = nil }
        try write(line: JSONValue.object(members).description)
    }
}
