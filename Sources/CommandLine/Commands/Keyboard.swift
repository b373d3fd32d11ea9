import Glibc
import Takes

/// The lines that a person types, and Ctrl-C, for a command that also waits for other things.
///
/// The standard input may also be a pipe, so that a script can answer.
final class Keyboard {
    enum Typed: Equatable {
        /// A line without its line break and without surrounding white space.
        case line(String)
        /// Ctrl-C, or the system ends the command.
        case interrupted
    }

    enum Answer: Equatable {
        case yes, no, skipped
        /// The input has ended.
        case unanswered
    }

    /// Ctrl-C, or the system ends the command.
    struct Interruption: Error {}

    private enum State {
        case open
        /// There are no more lines.
        case ended
    }

    private let descriptor: Int32
    private let signals: any Signals
    private let clock: any Clock
    private var state = State.open
    private var bytes: [UInt8] = []

    init(_ descriptor: Int32, signals: any Signals, clock: any Clock) {
        self.descriptor = descriptor
        self.signals = signals
        self.clock = clock
    }

    /// Waits for a line or Ctrl-C.
    /// - Parameters:
    ///   - limit: when to stop waiting, or nil to wait until the input ends.
    ///   - other: a descriptor that ends the wait when it is readable; negative for none.
    /// - Returns: nil if neither came, or the input has ended.
    func wait(until limit: Instant?, or other: Int32 = -1) -> Typed? {
        while true {
            if let typed = next() { return typed }
            if limit == nil, case .ended = state { return nil }
            let now = clock.now()
            var files = [signals.fileDescriptor, isOpen ? descriptor : -1, other].map {
                pollfd(fd: $0, events: Int16(POLLIN), revents: 0)
            }
            let left = limit.map { max(0, min(200, ($0 - now).nanoseconds / 1_000_000 + 1)) } ?? 200
            let isOver = limit.map { now >= $0 } ?? false
            unsafe poll(&files, nfds_t(files.count), isOver ? 0 : Int32(left))
            if files[1].revents != 0 { read() }
            if let typed = next() { return typed }
            if files[2].revents != 0 || isOver { return nil }
        }
    }

    /// Discards earlier input.
    func forget() throws(Interruption) {
        while let typed = wait(until: clock.now()) {
            guard case .line = typed else { throw Interruption() }
        }
    }

    /// Waits for the answer to a question: y, n or s; Enter means yes.
    /// - Parameters:
    ///   - limit: when to stop waiting, or nil to wait until the input ends.
    ///   - say: shows which keys are allowed after other input.
    /// - Returns: nil at `limit`.
    func answer(until limit: Instant? = nil, say: (String) -> Void) throws(Interruption) -> Answer? {
        while true {
            switch wait(until: limit) {
            case .interrupted: throw Interruption()
            case .line(let line):
                switch line.lowercased() {
                case "", "y", "yes": return .yes
                case "n", "no": return .no
                case "s", "skip": return .skipped
                default:
                    say("found '\(line.printable)': type y for yes, n for no, s to skip, and Enter; Enter alone is yes")
                }
            case nil: return isOpen ? nil : .unanswered
            }
        }
    }

    private var isOpen: Bool {
        switch state {
        case .open: true
        case .ended: false
        }
    }

    private func next() -> Typed? {
        while let signal = signals.next() {
            switch signal {
            case .end: return .interrupted
            case .suspend: signals.suspend()
            case .resize: break
            }
        }
        guard let end = bytes.firstIndex(of: UInt8(ascii: "\n")) else {
            // The last line may lack a line break.
            guard !isOpen, !bytes.isEmpty else { return nil }
            defer { bytes = [] }
            return .line(Self.trimmed(bytes[...]))
        }
        defer { bytes.removeFirst(end + 1) }
        return .line(Self.trimmed(bytes[..<end]))
    }

    private func read() {
        var piece = [UInt8](repeating: 0, count: 1024)
        // Safe: the length is the array's.
        let count = unsafe piece.withUnsafeMutableBytes { unsafe Glibc.read(descriptor, $0.baseAddress, $0.count) }
        if count > 0 {
            bytes += piece[..<count]
        } else if count == 0 || (errno != EINTR && errno != EAGAIN) {
            state = .ended
        }
    }

    private static func trimmed(_ bytes: ArraySlice<UInt8>) -> String {
        String(decoding: bytes, as: UTF8.self).split(whereSeparator: \.isWhitespace).joined(separator: " ")
    }
}
