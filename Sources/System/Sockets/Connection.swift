import Glibc
package import Takes

/// The connection of one peer: the lines it sends, and the replies and events for it. Both buffers are bounded.
package final class Connection {
    /// Without the newline.
    package static let longestLine = 64 << 10
    /// The most unread output that a peer may have, not counting a reply. A reply is unlimited because the peer asked
    /// for it, and its next request is read only after the reply was sent.
    static let mostOutput = 256 << 10
    /// How long a peer may leave output unread.
    static let patience = Duration.seconds(10)
    /// How long a peer may pause in the middle of a line.
    package static let longestPause = Duration.seconds(60)

    package let socket: Descriptor
    /// Whether the peer is root or the service's own user.
    package let isPrivileged: Bool
    private let calls: SocketCalls

    private var input: [UInt8] = []
    private var lastReceived = Instant(nanoseconds: 0)
    /// Offsets in `input`: the start of the next line, and the end of the part that was searched for a newline.
    private var lineStart = 0
    private var searched = 0
    /// The offset of the next line's newline.
    private var lineEnd: Int?
    package private(set) var hasInputEnded = false

    private var output: [UInt8] = []
    private var sent = 0
    /// How many bytes of `output` belong to replies.
    private var replied = 0
    private var stuckSince: Instant?
    package private(set) var isDeaf = false

    /// A request is being carried out. The next request is read after its answer, which keeps the replies in order.
    package var isAnswering = false
    /// The peer closed the connection while its request is carried out. The socket is not watched meanwhile, because
    /// the system would report the end again and again.
    package var isAbandoned = false
    /// Reading has ended. The connection ends when all output was sent.
    package private(set) var isEnding = false
    /// Closed, and still in the list of connections.
    package private(set) var isClosed = false
    package private(set) var hasReplied = false
    /// The connection stays open after the peer has finished sending.
    package var isKept = false

    package init(_ socket: consuming Descriptor, calls: SocketCalls) {
        isPrivileged = calls.isPrivileged(socket.number)
        self.socket = socket
        self.calls = calls
    }

    // A child process that is being started has a copy of the socket until it calls exec. Shutdown also ends that copy.
    deinit { shutdown(socket.number, Int32(SHUT_RDWR)) }

    // MARK: In

    /// Reads once, at most the length of a line. A line longer than `longestLine` is an error.
    package func receive(now: Instant) {
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

    package var hasLine: Bool { lineEnd != nil }

    package var isLineTooLong: Bool { lineEnd == nil && input.count - lineStart > Self.longestLine }

    /// Whether the peer finished sending in the middle of a line.
    package var hasHalfLine: Bool { lineEnd == nil && input.count > lineStart }

    /// When a peer that stopped in the middle of a line is dropped, or nil while the peer itself waits for the service.
    private var lineDeadline: Instant? {
        hasHalfLine && !hasInputEnded && !isAnswering && !hasOutput ? lastReceived + Self.longestPause : nil
    }

    package func isLineOverdue(now: Instant) -> Bool { lineDeadline.map { $0 <= now } ?? false }

    package func nextLine() -> ArraySlice<UInt8>? {
        guard let end = lineEnd else { return nil }
        let line = input[lineStart..<end]
        lineStart = end + 1
        findLine()
        return line
    }

    // MARK: Out

    /// Queues a reply of any length and sends as much as the socket accepts.
    package func reply(_ line: String, now: Instant) {
        queue(line, isReply: true, now: now)
        hasReplied = true
    }

    /// Queues an event and sends as much as the socket accepts. A peer that reads too slowly is dropped.
    package func append(_ event: String, now: Instant) {
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

    /// Sends as much as the socket accepts, without blocking.
    package func flush(now: Instant) {
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
                // The peer may have closed the connection after its request. The request is still carried out.
                isDeaf = true
            }
        }
        output.removeAll(keepingCapacity: output.count <= 4096)
        sent = 0
        replied = 0
        stuckSince = nil
    }

    /// Frees the memory of sent bytes, so that a peer that always lags a little does not fill the memory.
    private func forgetSent() {
        guard sent > Self.mostOutput else { return }
        output.removeFirst(sent)
        sent = 0
        replied = min(replied, output.count)
    }

    package var hasOutput: Bool { sent < output.count }

    /// When the peer is dropped for reading too slowly or pausing in a line.
    package var deadline: Instant? { stuckSince.map { $0 + Self.patience } ?? lineDeadline }

    /// Whether the peer still expects what it asked for. It has not gone and is not being disconnected.
    package var isAttached: Bool { !isClosed && !isEnding && !isAbandoned }

    /// Whether the connection can be removed from the list.
    package var isFinished: Bool { isClosed || (isEnding && !hasOutput) }

    /// Whether there is work that the system does not report as an event.
    package var hasWork: Bool { isFinished || (hasLine && !isAnswering && !isEnding && !hasOutput) }

    /// Stops reading and ends once all output was sent.
    package func end() {
        isEnding = true
        isKept = false
        input = []
        lineStart = 0
        searched = 0
        lineEnd = nil
    }

    package func close() {
        isClosed = true
        isKept = false
    }
}
