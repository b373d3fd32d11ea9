internal import CLinux
import Glibc

/// A terminal that keys are read from and a picture is drawn on. No call waits for it.
public final class Terminal {
    /// Readable (for `poll`) when there are keys, or the terminal has gone. Never again after `read` has returned nil.
    let fileDescriptor: Int32
    private let input: Int32
    private let output: Int32
    private var mode: KeyMode?

    /// The terminal at the process's standard input and output; nil where either is none, where it cannot be drawn on, or where
    /// it is another job's.
    public convenience init?() {
        let kind = unsafe getenv("TERM").map { unsafe String(cString: $0) }
        guard let kind, !["", "dumb"].contains(kind), tcgetpgrp(STDIN_FILENO) == getpgrp() else { return nil }
        self.init(input: STDIN_FILENO, output: STDOUT_FILENO)
    }

    /// The terminal at two files; nil if either is none.
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

    /// Makes keys come at once, and does not show them.
    /// - Throws: `SimulationError`.
    func begin() throws(SimulationError) {
        mode = try KeyMode(of: input)
    }

    /// Gives the terminal back as it was.
    func end() {
        mode = nil
    }

    /// The bytes of the keys that were pressed; nil: the terminal has gone.
    func read() -> [UInt8]? {
        var bytes = [UInt8](repeating: 0, count: 256)
        // Safe: the array outlives the call.
        let count = unsafe Glibc.read(fileDescriptor, &bytes, bytes.count)
        if count > 0 { return Array(bytes.prefix(count)) }
        if count < 0, errno == EAGAIN || errno == EINTR { return [] }
        // A terminal that is gone stays readable, and the loop that waits for it would spin.
        let silence = eventfd(0, Int32(EFD_CLOEXEC))
        if silence >= 0 {
            dup2(silence, fileDescriptor)
            close(silence)
        }
        return nil
    }

    /// Draws.
    /// - Returns: false if not all of it got there.
    func write(_ text: String) -> Bool {
        let bytes = Array(text.utf8)
        // Safe: the array outlives the call.
        return unsafe bytes.withUnsafeBytes { unsafe Glibc.write(output, $0.baseAddress, $0.count) } == bytes.count
    }

    /// Its size (`TIOCGWINSZ`); 80 × 24 where it does not know.
    var size: (columns: Int, rows: Int) {
        var size = winsize()
        guard unsafe ioctl(output, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0, size.ws_row > 0 else {
            return (80, 24)
        }
        return (Int(size.ws_col), Int(size.ws_row))
    }

    /// Whether it shows more than ASCII, as the locale's environment says.
    var showsUnicode: Bool {
        for name in ["LC_ALL", "LC_CTYPE", "LANG"] {
            guard let value = unsafe getenv(name), unsafe value.pointee != 0 else { continue }
            let locale = unsafe String(cString: value).lowercased()
            return locale.contains("utf-8") || locale.contains("utf8")
        }
        return false
    }

    /// The same terminal with flags of its own: those of a standard file are shared with the shell. Where it cannot be opened, as
    /// after a change of user, the file is used as it is.
    private static func reopen(_ file: Int32, _ access: Int32) -> Int32 {
        let opened = unsafe open("/proc/self/fd/\(file)", access | O_NOCTTY | O_NONBLOCK | O_CLOEXEC)
        return opened >= 0 ? opened : fcntl(file, F_DUPFD_CLOEXEC, 3)
    }
}
