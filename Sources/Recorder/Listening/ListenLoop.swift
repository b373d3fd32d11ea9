import Filters
import Glibc
import Live
import Ring
import Sockets
import Takes
import Workers

/// The loop of the listen socket's thread. It accepts peers, reads the ring while a peer is connected, and sends the
/// sound to the peers.
final class ListenLoop {
    private let acceptor: PeerAcceptor
    /// Serves the card's own samples, or nil without a socket for them.
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

    /// At most this many peers at once. Further connections are closed immediately.
    static let mostPeers = 8
    /// The ring is read at this interval while there is a peer.
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

    func run() {
        Denormals.flushToZero()
        while turn() { wait() }
    }

    /// Handles all pending work without waiting.
    /// - Returns: false once the loop must end.
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
            // The next peer gets the frames sampled after it connects.
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
            let events = (peer.mayAsk ? POLLIN : 0) | (peer.isWaiting ? POLLOUT : 0)
            descriptors.append(pollfd(fd: peer.socket.number, events: Int16(events), revents: 0))
        }
        let timeout = deadlines.min().map { Int32(clamping: (($0 - now).nanoseconds + 999_999) / 1_000_000) }
        // Safe: the array outlives the call.
        guard unsafe poll(&descriptors, nfds_t(descriptors.count), timeout.map { max(0, $0) } ?? -1) > 0 else { return }
        let found = descriptors.dropFirst(1 + awaited.count).map { Int32($0.revents) }
        for (peer, events) in zip(peers, found) where events & (POLLHUP | POLLERR) != 0 { peer.leave() }
        for (peer, events) in zip(sound?.peers ?? [], found.dropFirst(peers.count)) {
            if events & (POLLHUP | POLLERR) != 0 {
                peer.leave()
            } else if events & POLLIN != 0 {
                sound?.receive(from: peer)
            }
        }
        peers.removeAll(where: \.isGone)
        sound?.removeGone()
    }
}

enum ListenOrder: Sendable {
    /// Stream this source from now on. With nil no card is open, and the peers wait.
    case source(LiveSource?)
    /// The first frame of a take, or its end.
    case take(LiveTake)
    /// The waveform was switched on or off.
    case drawing
    case end
}
