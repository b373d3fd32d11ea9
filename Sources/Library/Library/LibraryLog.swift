import Glibc
import Logging

/// The log: one line per report on standard error, which journald collects.
struct LibraryLog: LogHandler {
    var metadata: Logger.Metadata = [:]
    var logLevel = Logger.Level.info
    /// Whether each line begins with its severity, see sd-daemon(3).
    private let isJournal = unsafe getenv("JOURNAL_STREAM") != nil

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
        let message = "\(event.message)".split(whereSeparator: \.isNewline).joined(separator: " ")
        let line = (isJournal ? "<\(event.level.severity)>" : "") + message + "\n"
        let bytes = Array(line.utf8)
        // Safe: the pointer is used only during the call. A line that cannot be written is dropped.
        _ = unsafe bytes.withUnsafeBytes { unsafe write(STDERR_FILENO, $0.baseAddress, $0.count) }
    }
}

extension Logger.Level {
    /// The number in syslog(3).
    fileprivate var severity: Int {
        switch self {
        case .trace, .debug: 7
        case .info: 6
        case .notice: 5
        case .warning: 4
        case .error: 3
        case .critical: 2
        }
    }
}
