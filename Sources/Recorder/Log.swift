public import Deck
import Glibc

/// The log: one line a report on standard error, which journald collects.
public struct Log: Sendable {
    private let isJournal: Bool

    /// Under journald each line begins with its severity, as sd-daemon(3) has it.
    public init() {
        self.init(isJournal: unsafe getenv("JOURNAL_STREAM") != nil)
    }

    init(isJournal: Bool) {
        self.isJournal = isJournal
    }

    /// Writes one report.
    public func write(_ report: Report) {
        let line = text(report)
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
