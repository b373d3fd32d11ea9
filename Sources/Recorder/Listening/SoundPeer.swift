import Control
import Ring
import Takes

/// A connection that gets the card's own samples with their places, and learns of each frame that it is too slow for.
///
/// It reads the ring by a cursor of its own, so what waits for it is in the ring: here is one message, and what there is to say of takes.
final class SoundPeer {
    let socket: Descriptor
    private let calls: SocketCalls
    /// What the socket has not taken yet of one message, from `sent` on.
    private var pending: [UInt8] = []
    private var sent = 0
    /// What the card delivers, if that was not said yet: it comes before all that is counted by it.
    private var format: [UInt8]?
    /// Messages that come before the next sound.
    private var news: [[UInt8]] = []
    /// Frames that it did not get and was not told of.
    private var missed: Range<Int64>?
    private var stage = Stage.waiting(next: nil)

    private enum Stage {
        /// No card is open; the number of the frame that it would have got next, or nil if it got none yet.
        case waiting(next: Int64?)
        case reading(RingReader, base: Int64)
        case gone
    }

    /// The most frames of one message, and its most bytes.
    private static let chunk = (frames: Int64(4096), bytes: 65_536)
    /// The most messages of one turn, so that a peer that reads fast keeps no other waiting.
    private static let mostMessages = 64
    /// The most messages about takes that wait; of more the oldest go.
    static let mostNews = 64

    init(_ socket: consuming Descriptor, calls: SocketCalls) {
        self.socket = socket
        self.calls = calls
    }

    /// Whether its connection is over.
    var isGone: Bool {
        if case .gone = stage { true } else { false }
    }

    /// Whether it reads the card's sound.
    var isReading: Bool {
        if case .reading = stage { true } else { false }
    }

    /// Whether something waits for the socket to take it.
    var isWaiting: Bool { sent < pending.count }

    /// How many bytes wait.
    var waitingBytes: Int { pending.count - sent + news.reduce(0) { $0 + $1.count } }

    /// The other end closed the connection.
    func leave() {
        stage = .gone
        (pending, sent, news, format) = ([], 0, [], nil)
    }

    /// The sound of a ring from a position on, whose frames have numbers that are greater by `base`.
    func begin(_ ring: Ring, from position: RingPosition, base: Int64, format: [UInt8]?) {
        guard case .waiting(let next) = stage else { return }
        if let next { miss(next..<base + position.count) }
        if let format { self.format = format }
        stage = .reading(RingReader(ring, from: position, isPrompt: true), base: base)
    }

    /// The card is closed, or its sound is withheld.
    func pause() {
        guard case .reading(let reader, let base) = stage else { return }
        stage = .waiting(next: base + reader.position.count)
    }

    /// Has a message sent before the next sound.
    func say(_ message: [UInt8]) {
        news.append(message)
        if news.count > Self.mostNews { news.removeFirst() }
    }

    private func miss(_ frames: Range<Int64>) {
        guard !frames.isEmpty else { return }
        missed = (missed?.lowerBound ?? frames.lowerBound)..<frames.upperBound
    }

    /// Sends what the socket takes.
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
        // Safe: copied while they lie in the ring, and discarded if they were overwritten meanwhile.
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
