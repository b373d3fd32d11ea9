public import Deck
import Glibc
import Lines
import Simulation
import Synchronization

/// Writes one line per report to standard error, which journald collects. Its reader may hang, for instance on a
/// failing disk. Lines are then dropped and counted, because the recorder must not wait for the reader.
public struct Log: Sendable {
    private let isJournal: Bool
    private let messages: Messages?
    private let descriptor: Int32
    private let omissions: Omissions

    /// Counts the lines that were dropped since the last line was written.
    private final class Omissions: Sendable {
        let count = Atomic<Int>(0)
    }

    /// Under journald each line begins with its severity, as sd-daemon(3) specifies.
    public init() {
        self.init(isJournal: unsafe getenv("JOURNAL_STREAM") != nil)
    }

    /// - Parameters:
    ///   - messages: the queue from which a panel in the terminal takes the lines. While it does, lines are written to
    ///     standard error only if that is not a terminal: they would spoil the picture.
    init(isJournal: Bool, messages: Messages? = nil, descriptor: Int32 = STDERR_FILENO) {
        self.isJournal = isJournal
        self.messages = messages
        self.descriptor = descriptor
        omissions = Omissions()
    }

    /// The same log, also shown by a panel.
    func shown(by messages: Messages) -> Log {
        Log(isJournal: isJournal, messages: messages, descriptor: descriptor)
    }

    static var isOnTerminal: Bool { isatty(STDERR_FILENO) == 1 }

    public func write(_ report: Report) {
        let line = text(report)
        if let messages, messages.post(report.message), Self.isOnTerminal { return }
        guard isWritable else {
            omissions.count.wrappingAdd(1, ordering: .relaxed)
            return
        }
        let omitted = omissions.count.exchange(0, ordering: .relaxed)
        let note =
            omitted > 0 ? text(Report(.warning, "log: \(omitted) lines were left out: their reader was too slow")) : ""
        var bytes = Array((note + line).utf8)[...]
        while !bytes.isEmpty {
            // Safe: the pointer is used only during the call.
            let written = unsafe bytes.withUnsafeBytes { unsafe Glibc.write(descriptor, $0.baseAddress, $0.count) }
            guard written > 0 || errno == EINTR else { return }
            bytes = bytes.dropFirst(max(0, written))
        }
    }

    func write(_ errors: [LineError]) {
        for error in errors { write(Report(.error, "\(error)")) }
    }

    /// Whether a write would not block. A write also fails at once if the reader has gone.
    private var isWritable: Bool {
        var file = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
        return unsafe poll(&file, 1, 0) != 0
    }

    func text(_ report: Report) -> String {
        let message = report.message.split(whereSeparator: \.isNewline).joined(separator: " ")
        return (isJournal ? "<\(report.severity.rawValue)>" : "") + message + "\n"
    }
}
