import Control
import Takes

/// A connection that gets the stream, and skips what it is too slow for.
final class ListeningPeer {
    let socket: Descriptor
    private let calls: SocketCalls
    private var stage: Stage
    /// What the socket has not taken yet, from `sent` on.
    private var pending: [UInt8] = []
    private var sent = 0

    private enum Stage {
        /// It may still ask for a layout.
        case choosing([UInt8], until: Instant)
        /// It waits for a card; nil: it gets the usual layout.
        case ready(LiveWAV.Layout?)
        case streaming(LiveWAV)
        case gone
    }

    /// How long a peer may ask for a layout.
    static let patience = Duration.milliseconds(200)
    /// The most sound that waits for a peer; what comes while so much waits is skipped.
    static let mostWaiting = Duration.milliseconds(500)
    /// The longest request, in bytes.
    static let longestRequest = 16

    init(_ socket: consuming Descriptor, calls: SocketCalls, now: Instant) {
        self.socket = socket
        self.calls = calls
        stage = .choosing([], until: now + Self.patience)
    }

    /// Whether its connection is over.
    var isGone: Bool {
        if case .gone = stage { true } else { false }
    }

    /// Until when it may ask for a layout; nil: not any more.
    var choosesUntil: Instant? {
        if case .choosing(_, let until) = stage { until } else { nil }
    }

    /// What it gets; nil: nothing yet.
    var stream: LiveWAV? {
        if case .streaming(let wave) = stage { wave } else { nil }
    }

    /// Whether something waits for the socket to take it.
    var isWaiting: Bool { sent < pending.count }

    /// How many bytes wait.
    var waitingBytes: Int { pending.count - sent }

    /// The other end closed the connection.
    func leave() {
        stage = .gone
        pending = []
        sent = 0
    }

    /// Receives the request, if there still may be one: a line, `mono` or `stereo`. What comes later is not read.
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

    /// A card delivers frames of a format. The stream begins, if the peer waits for that; one of another rate ends.
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

    /// Gives the peer whole frames of its stream. Those that it is too slow for are skipped.
    func give(_ bytes: [UInt8]) {
        guard case .streaming(let wave) = stage else { return }
        let most = Int(Self.mostWaiting.inSeconds * Double(wave.rateHz)) * wave.bytesPerFrame
        guard waitingBytes + bytes.count <= most else { return }
        pending.removeFirst(sent)
        sent = 0
        pending += bytes
    }

    /// Sends what the socket takes.
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
