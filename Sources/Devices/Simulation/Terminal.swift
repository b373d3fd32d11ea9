internal import CLinux
import Glibc

/// A terminal that delivers keys and shows a picture. No call waits for it.
public final class Terminal {
    /// Readable (for `poll`) when there are keys or the terminal has closed. After `read` has returned nil, it is never
    /// readable again.
    let fileDescriptor: Int32
    private let input: Int32
    private let output: Int32
    private var mode: KeyMode?

    /// The terminal at the process's standard input and output. Fails if either is not a terminal, if `TERM` is not set
    /// or says `dumb`, or if the process is not in the foreground.
    public convenience init?() {
        let kind = unsafe getenv("TERM").map { unsafe String(cString: $0) }
        guard let kind, !["", "dumb"].contains(kind), tcgetpgrp(STDIN_FILENO) == getpgrp() else { return nil }
        self.init(input: STDIN_FILENO, output: STDOUT_FILENO)
    }

    /// Fails if either file is not a terminal.
    init?(input: Int32, output: Int32) {
        guard isatty(input) == 1, isatty(output) == 1 else { return nil }
        fileDescriptor = Self.reopen(input, O_RDONLY)
        self.input = input
        self.output = Self.reopen(output, O_WRONLY)
    }

    deinit {
        end()
        if fileDescriptor >= 0 { close(fileDescriptor) }
        if output >= 0 { close(output) }
    }

    /// Makes the terminal deliver keys at once and without echo.
    /// - Throws: `SimulationError`.
    func begin() throws(SimulationError) {
        mode = try KeyMode(of: input)
    }

    /// Restores the terminal's mode.
    func end() {
        mode = nil
    }

    /// The bytes of the pressed keys, or nil if the terminal has closed.
    func read() -> [UInt8]? {
        var bytes = [UInt8](repeating: 0, count: 256)
        // Safe: the array outlives the call.
        let count = unsafe Glibc.read(fileDescriptor, &bytes, bytes.count)
        if count > 0 { return Array(bytes.prefix(count)) }
        if count < 0, errno == EAGAIN || errno == EINTR { return [] }
        // A closed terminal stays readable, and a loop that waits for it would spin.
        let silence = eventfd(0, Int32(EFD_CLOEXEC))
        if silence >= 0 {
            dup2(silence, fileDescriptor)
            close(silence)
        }
        return nil
    }

    /// - Returns: false if the text was not written completely.
    func write(_ text: String) -> Bool {
        let bytes = Array(text.utf8)
        // Safe: the array outlives the call.
        return unsafe bytes.withUnsafeBytes { unsafe Glibc.write(output, $0.baseAddress, $0.count) } == bytes.count
    }

    /// The terminal's size (`TIOCGWINSZ`), or 80 × 24 if it is not known.
    var size: (columns: Int, rows: Int) {
        var size = winsize()
        guard unsafe ioctl(output, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0, size.ws_row > 0 else {
            return (80, 24)
        }
        return (Int(size.ws_col), Int(size.ws_row))
    }

    /// Whether the locale's environment allows more than ASCII.
    var showsUnicode: Bool {
        for name in ["LC_ALL", "LC_CTYPE", "LANG"] {
            guard let value = unsafe getenv(name), unsafe value.pointee != 0 else { continue }
            let locale = unsafe String(cString: value).lowercased()
            return locale.contains("utf-8") || locale.contains("utf8")
        }
        return false
    }

    /// Opens the same terminal again with its own flags, because those of a standard file are shared with the shell. If
    /// that is not possible, for example after a change of user, the file is duplicated.
    private static func reopen(_ file: Int32, _ access: Int32) -> Int32 {
        let opened = unsafe open("/proc/self/fd/\(file)", access | O_NOCTTY | O_NONBLOCK | O_CLOEXEC)
        return opened >= 0 ? opened : fcntl(file, F_DUPFD_CLOEXEC, 3)
    }
}
