// Some compilers attribute `winsize` to CLinux.
import CLinux
import Glibc
import Takes

/// The output of a command, and its width.
public protocol Console: AnyObject {
    func write(_ text: String) throws(Failure)
    func complain(_ sentence: String)
    /// Asks a person, on the standard error.
    /// - Returns: the typed line, or nil if the standard input is not a terminal.
    func ask(_ question: String) -> String?
    /// Whether the standard output is a terminal, so that lines can be redrawn.
    var isTerminal: Bool { get }
    /// In columns.
    var width: Int { get }
    /// Whether the terminal can show more than ASCII.
    var showsUnicode: Bool { get }
}

public final class SystemConsole: Console {
    public init() {}

    /// Writes all of the text, or fails with exit status 74.
    public func write(_ text: String) throws(Failure) {
        guard Self.write(text, to: STDOUT_FILENO) else {
            throw Failure(exitStatus: 74, "fieldfare: cannot write the output: \(SystemError(errno))")
        }
    }

    /// If this write fails, the line is dropped.
    public func complain(_ sentence: String) {
        _ = Self.write(sentence + "\n", to: STDERR_FILENO)
    }

    /// Reads the standard input, if it is a terminal. End of input is an empty line.
    public func ask(_ question: String) -> String? {
        guard isatty(STDIN_FILENO) == 1 else { return nil }
        _ = Self.write(question + " ", to: STDERR_FILENO)
        return readLine() ?? ""
    }

    public var isTerminal: Bool { isatty(STDOUT_FILENO) == 1 }

    /// From the terminal (`TIOCGWINSZ`), or 80 if the terminal does not know.
    public var width: Int {
        var size = winsize()
        guard unsafe ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return 80 }
        return Int(size.ws_col)
    }

    /// From the locale variables of the environment.
    public var showsUnicode: Bool {
        for name in ["LC_ALL", "LC_CTYPE", "LANG"] {
            guard let value = unsafe getenv(name), unsafe value.pointee != 0 else { continue }
            let locale = unsafe String(cString: value).lowercased()
            return locale.contains("utf-8") || locale.contains("utf8")
        }
        return false
    }

    private static func write(_ text: String, to file: Int32) -> Bool {
        var bytes = Array(text.utf8)[...]
        while !bytes.isEmpty {
            let count = unsafe bytes.withUnsafeBytes { unsafe Glibc.write(file, $0.baseAddress, $0.count) }
            if count > 0 {
                bytes = bytes.dropFirst(count)
            } else if errno != EINTR {
                return false
            }
        }
        return true
    }
}
