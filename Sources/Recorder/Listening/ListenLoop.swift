import Control
import Filters
import Glibc
import Live
import Ring
import Takes
import Workers

/// What the thread of the listen socket does: accepts peers, reads the ring while there are any, and sends them what it read.
final class ListenLoop {
    private let acceptor: PeerAcceptor
    /// Those that get the samples as the card delivers them, or nil if there is no such socket.
    private let sound: SoundServing?
    private let orders: Mailbox<ListenOrder>
    private let clock: any Clock
    private let calls: SocketCalls
    private(set) var peers: [ListeningPeer] = []
    private var source: LiveSource?
    private let pixels: LivePixels
    private var feed: LiveFeed?
    private var state = State.running

    private enum State { case running, ended }

    /// The most peers at once; the connections of more are closed at once.
    static let mostPeers = 8
    /// How often the ring is read while there is a peer.
    static let interval = Duration.milliseconds(60)

    init(
        _ listener: consuming Listener, sound: SoundServing? = nil, pixels: LivePixels = LivePixels(),
        orders: Mailbox<ListenOrder>, clock: any Clock, calls: SocketCalls
    ) {
        self.pixels = pixels
        acceptor = PeerAcceptor(listener, calls: calls)
        self.sound = sound
        self.orders = orders
        self.clock = clock
        self.calls = calls
    }

    /// Turns until it is ordered to end.
    func run() {
        Denormals.flushToZero()
        while turn() { wait() }
    }

    /// Does what there is to do, without waiting.
    /// - Returns: false once it is to end.
    func turn() -> Bool {
        for order in orders.take() {
            switch order {
            case .source(let source): change(to: source)
            case .take(let take): sound?.note(take)
            case .drawing: feed?.draw()
            case .end: state = .ended
            }
        }
        if case .ended = state { return false }
        let now = clock.now()
        acceptor.accept(now: now) { socket in
            if peers.count < Self.mostPeers { peers.append(ListeningPeer(socket, calls: calls, now: now)) }
        }
        for peer in peers { peer.receive(now: now) }
        stream()
        for peer in peers { peer.flush() }
        peers.removeAll(where: \.isGone)
        sound?.turn(now: now)
        return true
    }

    private func change(to new: LiveSource?) {
        if let new, feed?.follow(new) == true {} else { feed = nil }
        source = new
        sound?.change(to: new)
    }

    private func stream() {
        guard let source else { return }
        for peer in peers { peer.begin(source.ring.format) }
        let streams = Set(peers.compactMap(\.stream))
        guard !streams.isEmpty || pixels.isWanted else {
            // The next peer gets what is sampled from then on.
            feed = nil
            return
        }
        let feed = feed ?? LiveFeed(source, pixels: pixels)
        self.feed = feed
        while feed.read({ samples, frameCount in
            for stream in streams {
                let bytes = stream.encode(samples, frameCount: frameCount, from: feed.format.channels)
                for peer in peers where peer.stream == stream { peer.give(bytes) }
            }
        }) != nil {
            for peer in peers { peer.flush() }
        }
    }

    /// Waits until there is something to do.
    func wait() {
        let now = clock.now()
        var deadlines = peers.compactMap(\.choosesUntil)
        let awaited: [PeerAcceptor.Awaited] = [acceptor.awaited, sound?.acceptor.awaited].compactMap(\.self)
        deadlines += awaited.compactMap(\.deadline)
        let isStreaming = source != nil && (pixels.isWanted || peers.contains { $0.stream != nil })
        if isStreaming || sound?.isReading ?? false { deadlines.append(now + Self.interval) }
        var descriptors = ([orders.fileDescriptor] + awaited.map(\.descriptor)).map {
            pollfd(fd: $0, events: Int16(POLLIN), revents: 0)
        }
        for peer in peers {
            let events = (peer.choosesUntil == nil ? 0 : POLLIN) | (peer.isWaiting ? POLLOUT : 0)
            descriptors.append(pollfd(fd: peer.socket.number, events: Int16(events), revents: 0))
        }
        for peer in sound?.peers ?? [] {
            descriptors.append(pollfd(fd: peer.socket.number, events: Int16(peer.isWaiting ? POLLOUT : 0), revents: 0))
        }
        let timeout = deadlines.min().map { Int32(clamping: (($0 - now).nanoseconds + 999_999) / 1_000_000) }
        // Safe: the array outlives the call.
        guard unsafe poll(&descriptors, nfds_t(descriptors.count), timeout.map { max(0, $0) } ?? -1) > 0 else { return }
        let hasLeft = descriptors.dropFirst(1 + awaited.count).map { Int32($0.revents) & (POLLHUP | POLLERR) != 0 }
        for (peer, hasLeft) in zip(peers, hasLeft) where hasLeft { peer.leave() }
        for (peer, hasLeft) in zip(sound?.peers ?? [], hasLeft.dropFirst(peers.count)) where hasLeft { peer.leave() }
        peers.removeAll(where: \.isGone)
        sound?.removeGone()
    }
}

/// What the thread of the listen socket is ordered to do.
enum ListenOrder: Sendable {
    /// To stream this from now on; nil: no card is open, and peers wait.
    case source(LiveSource?)
    /// Which frames a take has, or where it ended.
    case take(LiveTake)
    /// Somebody draws the waveform from now on, or nobody does any more.
    case drawing
    case end
}
