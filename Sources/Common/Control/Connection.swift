import Glibc
import Takes

/// One peer: its lines on the way in, its replies and events on the way out. Neither grows without bound.
final class Connection {
    /// The longest line, without its newline.
    static let longestLine = 64 << 10
    /// The most that waits for a peer to read, beside a reply: it asked for that, and asks for no other before it was sent.
    static let mostOutput = 256 << 10
    /// How long a peer may leave what waits for it unread.
    static let patience = Duration.seconds(10)
    /// How long a peer may be silent in the middle of a line.
    static let longestPause = Duration.seconds(60)

    let socket: Descriptor
    /// Whether it is root, or the service's own user.
    let isPrivileged: Bool
    private let calls: SocketCalls

    private var input: [UInt8] = []
    private var lastReceived = Instant(nanoseconds: 0)
    /// Where in `input` the next line begins, and up to where there is no newline.
    private var lineStart = 0
    private var searched = 0
    /// Where the newline of the next line is.
    private var lineEnd: Int?
    private(set) var hasInputEnded = false

    private var output: [UInt8] = []
    private var sent = 0
    /// How much of `output` are replies.
    private var replied = 0
    private var stuckSince: Instant?
    private(set) var isDeaf = false

    /// A request is being carried out: the next is read when it was answered, so that replies keep their order.
    var isAnswering = false
    /// The peer has gone while its request is carried out: the system would report that again and again.
    var isAbandoned = false
    /// Nothing more is read; the connection ends when everything was sent.
    private(set) var isEnding = false
    /// Gone, and only waits to be taken off the list.
    private(set) var isClosed = false
    private var hasReplied = false
    /// Stays open when the peer has finished sending.
    var isKept = false

    init(_ socket: consuming Descriptor, calls: SocketCalls) {
        isPrivileged = calls.isPrivileged(socket.number)
        self.socket = socket
        self.calls = calls
    }

    // A child process that begins at this moment has a copy of the socket until it executes its program: the end counts for both.
    deinit { shutdown(socket.number, Int32(SHUT_RDWR)) }

    // MARK: In

    /// Reads once, no more than a line's length; a line that grows longer than any may be is an error.
    func receive(now: Instant) {
        if lineStart > 0 {
            input.removeFirst(lineStart)
            searched -= lineStart
            lineStart = 0
        }
        switch calls.receive(from: socket, most: Self.longestLine + 1 - input.count, into: &input) {
        case .bytes(0): hasInputEnded = true
        case .bytes:
            lastReceived = now
            findLine()
        case .wouldBlock: break
        case .failed: close()
        }
    }

    private func findLine() {
        lineEnd = input[searched...].firstIndex(of: UInt8(ascii: "\n"))
        searched = lineEnd.map { $0 + 1 } ?? input.count
    }

    /// Whether a whole line waits.
    var hasLine: Bool { lineEnd != nil }

    /// Whether more came than a line may hold.
    var isLineTooLong: Bool { lineEnd == nil && input.count - lineStart > Self.longestLine }

    /// Whether the peer finished in the middle of a line.
    var hasHalfLine: Bool { lineEnd == nil && input.count > lineStart }

    /// When a peer that stopped in the middle of a line is dropped; not while the service itself lets it wait.
    private var lineDeadline: Instant? {
        hasHalfLine && !hasInputEnded && !isAnswering && !hasOutput ? lastReceived + Self.longestPause : nil
    }

    /// Whether the peer has been silent for too long in the middle of a line.
    func isLineOverdue(now: Instant) -> Bool { lineDeadline.map { $0 <= now } ?? false }

    /// Takes the next whole line, without its newline.
    func nextLine() -> ArraySlice<UInt8>? {
        guard let end = lineEnd else { return nil }
        let line = input[lineStart..<end]
        lineStart = end + 1
        findLine()
        return line
    }

    // MARK: Out

    /// Queues a reply, however long, and sends what can be sent.
    func reply(_ reply: Reply, id: JSONValue, now: Instant) {
        queue(reply.line(id: id, isFirst: !hasReplied), isReply: true, now: now)
        hasReplied = true
    }

    /// Queues an event and sends what can be sent; a peer that reads too slowly is dropped.
    func append(_ event: String, now: Instant) {
        queue(event, isReply: false, now: now)
    }

    private func queue(_ line: String, isReply: Bool, now: Instant) {
        guard !isDeaf, !isClosed else { return }
        let before = output.count
        output.append(contentsOf: line.utf8)
        output.append(UInt8(ascii: "\n"))
        if isReply { replied += output.count - before }
        flush(now: now)
        if output.count - sent > Self.mostOutput + replied { close() }
    }

    /// Sends what can be sent without waiting.
    func flush(now: Instant) {
        while sent < output.count, !isDeaf, !isClosed {
            switch calls.send(output[sent...], to: socket) {
            case .bytes(let count):
                sent += count
                stuckSince = nil
            case .wouldBlock:
                let since = stuckSince ?? now
                stuckSince = since
                if now - since >= Self.patience { close() }
                forgetSent()
                return
            case .failed:
                // It may have gone after asking; what it asked is still done.
                isDeaf = true
            }
        }
        output.removeAll(keepingCapacity: output.count <= 4096)
        sent = 0
        replied = 0
        stuckSince = nil
    }

    /// Gives back the room of what was sent: a peer that is always a little late must not fill the memory.
    private func forgetSent() {
        guard sent > Self.mostOutput else { return }
        output.removeFirst(sent)
        sent = 0
        replied = min(replied, output.count)
    }

    /// Whether something waits for the peer to read.
    var hasOutput: Bool { sent < output.count }

    /// When the patience with the peer is over.
    var deadline: Instant? { stuckSince.map { $0 + Self.patience } ?? lineDeadline }

    /// Whether the peer still wants what it asked for to go on: it has neither gone nor is it being turned out.
    var isAttached: Bool { !isClosed && !isEnding && !isAbandoned }

    /// Whether nothing is left but to take it off the list.
    var isFinished: Bool { isClosed || (isEnding && !hasOutput) }

    /// Whether something is to be done that the system does not report.
    var hasWork: Bool { isFinished || (hasLine && !isAnswering && !isEnding && !hasOutput) }

    /// Reads no more, and ends once everything was sent.
    func end() {
        isEnding = true
        isKept = false
        input = []
        lineStart = 0
        searched = 0
        lineEnd = nil
    }

    func close() {
        isClosed = true
        isKept = false
    }
}
