import Ring
import Sockets
import Takes

/// A connection that gets the card's own samples with their positions. Frames that it cannot take fast enough are
/// reported as skipped.
///
/// It reads the ring with its own cursor, so waiting sound stays in the ring. Only one message and the messages about
/// takes are stored here.
final class SoundPeer {
    let socket: Descriptor
    private let calls: SocketCalls
    /// One message for the socket. The bytes before `sent` were already sent.
    private var pending: [UInt8] = []
    private var sent = 0
    /// The unsent format message. It precedes all messages that count frames in that format.
    private var format: [UInt8]?
    /// Messages to send before the next sound.
    private var news: [[UInt8]] = []
    /// Frames that the peer did not get, and that were not reported yet.
    private var missed: Range<Int64>?
    private var stage = Stage.waiting(next: nil)
    private var request = Request.open([])

    private enum Stage {
        /// No card is open. `next` is the number of the next expected frame, or nil if the peer got no frame yet.
        case waiting(next: Int64?)
        case reading(RingReader, base: Int64)
        case gone
    }

    /// The peer's first line.
    private enum Request {
        /// The received part of the line.
        case open([UInt8])
        /// The line is complete, or is no request. Later input is not read.
        case closed
    }

    /// The most frames and the most bytes of one message.
    private static let chunk = (frames: Int64(4096), bytes: 65_536)
    /// The most messages per turn, so that a fast reader does not block the other peers.
    private static let mostMessages = 64
    /// At most this many messages about takes wait. Beyond it the oldest is dropped.
    static let mostNews = 64
    /// The longest request, in bytes.
    static let longestRequest = 16

    init(_ socket: consuming Descriptor, calls: SocketCalls) {
        self.socket = socket
        self.calls = calls
    }

    var isGone: Bool {
        if case .gone = stage { true } else { false }
    }

    /// Whether no card was open since it connected, so that it knows no format.
    var isNew: Bool {
        if case .waiting(next: nil) = stage { true } else { false }
    }

    var isReading: Bool {
        if case .reading = stage { true } else { false }
    }

    var isWaiting: Bool { sent < pending.count }

    /// Whether the peer may still send a request.
    var mayAsk: Bool {
        if case .open = request { true } else { false }
    }

    var waitingBytes: Int { pending.count - sent + news.reduce(0) { $0 + $1.count } }

    func leave() {
        stage = .gone
        (pending, sent, news, format) = ([], 0, [], nil)
    }

    /// Receives the peer's first line, or a part of it.
    /// - Returns: whether it asks for the past.
    func receive() -> Bool {
        guard case .open(var line) = request else { return false }
        switch calls.receive(from: socket, most: Self.longestRequest + 1 - line.count, into: &line) {
        case .bytes(0): request = .closed
        case .bytes:
            if let end = line.firstIndex(of: UInt8(ascii: "\n")) {
                request = .closed
                return line[..<end].elementsEqual("past".utf8)
            }
            request = line.count > Self.longestRequest ? .closed : .open(line)
        case .wouldBlock: break
        case .failed: leave()
        }
        return false
    }

    /// Reads a ring from a position on. A frame's number is its position in the ring plus `base`.
    func begin(_ ring: Ring, from position: RingPosition, base: Int64, format: [UInt8]?) {
        guard case .waiting(let next) = stage else { return }
        if let next { miss(next..<base + position.count) }
        if let format { self.format = format }
        stage = .reading(RingReader(ring, from: position, isPrompt: true), base: base)
    }

    /// Begins again at an older position of the same ring. Only a message that was sent in part is still completed.
    func beginAgain(from position: RingPosition, format: [UInt8], news: [[UInt8]]) {
        guard case .reading(let reader, let base) = stage else { return }
        (missed, self.format, self.news) = (nil, format, news)
        stage = .reading(RingReader(reader.ring, from: position, isPrompt: true), base: base)
    }

    /// The card was closed, or its sound is withheld.
    func pause() {
        guard case .reading(let reader, let base) = stage else { return }
        stage = .waiting(next: base + reader.position.count)
    }

    /// Queues a message to be sent before the next sound.
    func say(_ message: [UInt8]) {
        news.append(message)
        if news.count > Self.mostNews { news.removeFirst() }
    }

    private func miss(_ frames: Range<Int64>) {
        guard !frames.isEmpty else { return }
        missed = (missed?.lowerBound ?? frames.lowerBound)..<frames.upperBound
    }

    /// Sends as much as the socket takes.
    func flush() {
        for _ in 0..<Self.mostMessages {
            while isWaiting {
                switch calls.send(pending[sent...], to: socket) {
                case .bytes(let count): sent += count
                case .wouldBlock: return
                case .failed: return leave()
                }
            }
            (pending, sent) = (nextMessage() ?? [], 0)
            guard isWaiting else { return }
        }
    }

    private func nextMessage() -> [UInt8]? {
        if let message = missedMessage() { return message }
        if let format {
            self.format = nil
            return format
        }
        if !news.isEmpty { return news.removeFirst() }
        guard case .reading(let reader, let base) = stage else { return nil }
        let format = reader.ring.format
        let most = max(1, min(Self.chunk.frames, Int64(Self.chunk.bytes / format.bytesPerFrame)))
        let first = reader.position
        let number = base + first.count
        // Safe: the bytes are copied while they are in the ring, and the copy is discarded if they were overwritten
        // meanwhile.
        switch unsafe reader.read(atMost: most, { unsafe Array($0) }) {
        case .nothing: return nil
        case .skipped(let count):
            miss(number..<number + count)
            return missedMessage()
        case .frames(let count, let bytes):
            let sound = SoundMessage(
                kind: .sound, channels: format.channels, firstFrame: number,
                rawNanoseconds: reader.ring.rawNanoseconds(ofFrame: first) ?? 0)
            return sound.bytes(frames: Int(count), payload: bytes)
        }
    }

    private func missedMessage() -> [UInt8]? {
        guard let frames = missed else { return nil }
        var channels = 0
        if case .reading(let reader, _) = stage { channels = reader.ring.format.channels }
        let (message, rest) = SoundMessage.skipped(frames, channels: channels)
        missed = rest.isEmpty ? nil : rest
        return message
    }
}
