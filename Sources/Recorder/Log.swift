public import Deck
import Glibc
import Simulation

/// The log: one line a report on standard error, which journald collects.
public struct Log: Sendable {
    private let isJournal: Bool
    private let messages: Messages?

    /// Under journald each line begins with its severity, as sd-daemon(3) has it.
    public init() {
        self.init(isJournal: unsafe getenv("JOURNAL_STREAM") != nil)
    }

    /// - Parameter messages: where a panel in the terminal takes them from. While it does, they are written to standard
    ///   error only if that is not a terminal: they would garble the picture.
    init(isJournal: Bool, messages: Messages? = nil) {
        self.isJournal = isJournal
        self.messages = messages
    }

    /// The same log, shown by a panel as well.
    func shown(by messages: Messages) -> Log {
        Log(isJournal: isJournal, messages: messages)
    }

    /// Whether standard error is a terminal.
    static var isOnTerminal: Bool { isatty(STDERR_FILENO) == 1 }

    /// Writes one report.
    public func write(_ report: Report) {
        let line = text(report)
        if let messages, messages.post(report.message), Self.isOnTerminal { return }
        var bytes = Array(line.utf8)[...]
        while !bytes.isEmpty {
            // Safe: the pointer is used during the call alone.
            let written = unsafe bytes.withUnsafeBytes { unsafe Glibc.write(STDERR_FILENO, $0.baseAddress, $0.count) }
            guard written > 0 || errno == EINTR else { return }
            bytes = bytes.dropFirst(max(0, written))
        }
    }

    func text(_ report: Report) -> String {
        let message = report.message.split(whereSeparator: \.isNewline).joined(separator: " ")
        return (isJournal ? "<\(report.severity.rawValue)>" : "") + message + "\n"
    }
}
