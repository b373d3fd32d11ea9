public import Deck
import Glibc
import Lines
import Simulation
import Synchronization

/// The log: one line a report on standard error, which journald collects. Its reader may hang, for instance on a failing disk: lines
/// are then left out and counted, because the recorder must not wait for it.
public struct Log: Sendable {
    private let isJournal: Bool
    private let messages: Messages?
    private let descriptor: Int32
    private let omissions: Omissions

    /// Counts lines that were left out since the last that was not.
    private final class Omissions: Sendable {
        let count = Atomic<Int>(0)
    }

    /// Under journald each line begins with its severity, as sd-daemon(3) has it.
    public init() {
        self.init(isJournal: unsafe getenv("JOURNAL_STREAM") != nil)
    }

    /// - Parameters:
    ///   - messages: where a panel in the terminal takes the lines from. While it does, they are written to standard error only
    ///     if that is not a terminal: they would spoil the picture.
    ///   - descriptor: where lines are written to.
    init(isJournal: Bool, messages: Messages? = nil, descriptor: Int32 = STDERR_FILENO) {
        self.isJournal = isJournal
        self.messages = messages
        self.descriptor = descriptor
        omissions = Omissions()
    }

    /// The same log, shown by a panel as well.
    func shown(by messages: Messages) -> Log {
        Log(isJournal: isJournal, messages: messages, descriptor: descriptor)
    }

    /// Whether standard error is a terminal.
    static var isOnTerminal: Bool { isatty(STDERR_FILENO) == 1 }

    /// Writes one report.
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
            // Safe: the pointer is used during the call alone.
            let written = unsafe bytes.withUnsafeBytes { unsafe Glibc.write(descriptor, $0.baseAddress, $0.count) }
            guard written > 0 || errno == EINTR else { return }
            bytes = bytes.dropFirst(max(0, written))
        }
    }

    /// Writes what is wrong with lines.
    func write(_ errors: [LineError]) {
        for error in errors { write(Report(.error, "\(error)")) }
    }

    /// Whether a line can be written without waiting, or fails at once because there is no reader any more.
    private var isWritable: Bool {
        var file = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
        return unsafe poll(&file, 1, 0) != 0
    }

    func text(_ report: Report) -> String {
        let message = report.message.split(whereSeparator: \.isNewline).joined(separator: " ")
        return (isJournal ? "<\(report.severity.rawValue)>" : "") + message + "\n"
    }
}
