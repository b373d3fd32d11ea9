import Sockets
import Takes

/// A connection that gets the stream. Frames that it cannot take fast enough are skipped.
final class ListeningPeer {
    let socket: Descriptor
    private let calls: SocketCalls
    private var stage: Stage
    /// Bytes for the socket. The bytes before `sent` were already sent.
    private var pending: [UInt8] = []
    private var sent = 0

    private enum Stage {
        /// The peer may still ask for a layout.
        case choosing([UInt8], until: Instant)
        /// The peer waits for a card. Nil stands for the usual layout.
        case ready(LiveWAV.Layout?)
        case streaming(LiveWAV)
        case gone
    }

    /// A peer may ask for a layout within this time.
    static let patience = Duration.milliseconds(200)
    /// At most this much sound waits for a peer. Frames beyond it are skipped.
    static let mostWaiting = Duration.milliseconds(500)
    /// The longest request, in bytes.
    static let longestRequest = 16

    init(_ socket: consuming Descriptor, calls: SocketCalls, now: Instant) {
        self.socket = socket
        self.calls = calls
        stage = .choosing([], until: now + Self.patience)
    }

    var isGone: Bool {
        if case .gone = stage { true } else { false }
    }

    /// The deadline for choosing a layout, or nil after the choice.
    var choosesUntil: Instant? {
        if case .choosing(_, let until) = stage { until } else { nil }
    }

    /// The stream, or nil before it begins.
    var stream: LiveWAV? {
        if case .streaming(let wave) = stage { wave } else { nil }
    }

    var isWaiting: Bool { sent < pending.count }

    var waitingBytes: Int { pending.count - sent }

    func leave() {
        stage = .gone
        pending = []
        sent = 0
    }

    /// Receives the request while the peer may still choose: a line, `mono` or `stereo`. Later input is not read.
    func receive(now: Instant) {
        guard case .choosing(var asked, let until) = stage else { return }
        switch calls.receive(from: socket, most: Self.longestRequest + 1, into: &asked) {
        case .bytes(0): choose(asked)
        case .bytes:
            if let end = asked.firstIndex(of: UInt8(ascii: "\n")) {
                choose(Array(asked[..<end]))
            } else if asked.count > Self.longestRequest {
                leave()
            } else {
                stage = .choosing(asked, until: until)
            }
        case .wouldBlock: if now >= until { choose(asked) }
        case .failed: leave()
        }
    }

    private func choose(_ asked: [UInt8]) {
        switch String(decoding: asked, as: UTF8.self) {
        case "": stage = .ready(nil)
        case "mono": stage = .ready(.mono)
        case "stereo": stage = .ready(.stereo)
        default: leave()
        }
    }

    /// Begins the stream of a ready peer in the card's format. A stream at another rate ends.
    func begin(_ format: StreamFormat) {
        switch stage {
        case .choosing, .gone: break
        case .ready(let layout):
            let wave = LiveWAV(rateHz: format.rateHz, layout: layout ?? LiveWAV.usualLayout(of: format))
            stage = .streaming(wave)
            pending = wave.header
        case .streaming(let wave): if wave.rateHz != format.rateHz { leave() }
        }
    }

    /// Queues whole frames of the stream. Frames beyond `mostWaiting` are skipped.
    func give(_ bytes: [UInt8]) {
        guard case .streaming(let wave) = stage else { return }
        let most = Int(Self.mostWaiting.inSeconds * Double(wave.rateHz)) * wave.bytesPerFrame
        guard waitingBytes + bytes.count <= most else { return }
        pending.removeFirst(sent)
        sent = 0
        pending += bytes
    }

    /// Sends as many bytes as the socket takes.
    func flush() {
        while isWaiting {
            switch calls.send(pending[sent...], to: socket) {
            case .bytes(let count): sent += count
            case .wouldBlock: return
            case .failed: return leave()
            }
        }
    }
}
