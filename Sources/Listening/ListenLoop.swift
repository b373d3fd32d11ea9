import Control
import Filters
import Glibc
import Live
import Ring
import Takes
import Workers

/// What the thread of the listen socket does: accepts peers, reads the ring while there are any, and sends them what it read.
final class ListenLoop {
    private let listener: Listener
    private let orders: Mailbox<ListenOrder>
    private let clock: any Clock
    private let calls: SocketCalls
    private(set) var peers: [ListeningPeer] = []
    private var source: LiveSource?
    private var sound: LiveSound?
    private var state = State.accepting

    private enum State {
        case accepting
        /// The system has no descriptor left for another peer.
        case resting(until: Instant)
        case ended
    }

    /// The most peers at once; the connections of more are closed at once.
    static let mostPeers = 8
    /// How often the ring is read while there is a peer.
    static let interval = Duration.milliseconds(60)
    /// How long no peer is accepted after the system refused one.
    static let rest = Duration.seconds(1)

    init(_ listener: consuming Listener, orders: Mailbox<ListenOrder>, clock: any Clock, calls: SocketCalls) {
        self.listener = listener
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
            case .end: state = .ended
            }
        }
        if case .ended = state { return false }
        let now = clock.now()
        accept(now: now)
        for peer in peers { peer.receive(now: now) }
        stream()
        for peer in peers { peer.flush() }
        peers.removeAll(where: \.isGone)
        return true
    }

    private func change(to new: LiveSource?) {
        if let new, new.ring === source?.ring { sound?.change(to: new.design) } else { sound = nil }
        source = new
    }

    private func accept(now: Instant) {
        if case .resting(let until) = state {
            guard now >= until else { return }
            state = .accepting
        }
        while true {
            let number = calls.accept(listener.descriptor.number)
            guard number >= 0 else {
                switch errno {
                case EINTR, ECONNABORTED: continue
                case EAGAIN: return
                // Without a rest, the connection that cannot be accepted would wake the thread at once again.
                default: return state = .resting(until: now + Self.rest)
                }
            }
            let socket = Descriptor(number)
            if peers.count < Self.mostPeers { peers.append(ListeningPeer(socket, calls: calls, now: now)) }
        }
    }

    private func stream() {
        guard let source else { return }
        for peer in peers { peer.begin(source.ring.format) }
        let streams = Set(peers.compactMap(\.stream))
        guard !streams.isEmpty else {
            // The next peer gets what is sampled from then on.
            sound = nil
            return
        }
        let sound = sound ?? LiveSound(source)
        self.sound = sound
        while sound.read({ samples, frameCount in
            for stream in streams {
                let bytes = stream.encode(samples, frameCount: frameCount, from: sound.format.channels)
                for peer in peers where peer.stream == stream { peer.give(bytes) }
            }
        }) {
            for peer in peers { peer.flush() }
        }
    }

    /// Waits until there is something to do.
    func wait() {
        let now = clock.now()
        var deadlines = peers.compactMap(\.choosesUntil)
        var listening = listener.descriptor.number
        switch state {
        case .accepting, .ended: break
        case .resting(let until):
            deadlines.append(until)
            // poll leaves out what is negative.
            listening = -1
        }
        if source != nil, peers.contains(where: { $0.stream != nil }) { deadlines.append(now + Self.interval) }
        var descriptors = [orders.fileDescriptor, listening].map {
            pollfd(fd: $0, events: Int16(POLLIN), revents: 0)
        }
        for peer in peers {
            let events = (peer.choosesUntil == nil ? 0 : POLLIN) | (peer.isWaiting ? POLLOUT : 0)
            descriptors.append(pollfd(fd: peer.socket.number, events: Int16(events), revents: 0))
        }
        let timeout = deadlines.min().map { Int32(clamping: (($0 - now).nanoseconds + 999_999) / 1_000_000) }
        // Safe: the array outlives the call.
        guard unsafe poll(&descriptors, nfds_t(descriptors.count), timeout.map { max(0, $0) } ?? -1) > 0 else { return }
        for (peer, descriptor) in zip(peers, descriptors.dropFirst(2))
        where Int32(descriptor.revents) & (POLLHUP | POLLERR) != 0 {
            peer.leave()
        }
        peers.removeAll(where: \.isGone)
    }
}

/// What the thread of the listen socket is ordered to do.
enum ListenOrder: Sendable {
    /// To stream this from now on; nil: no card is open, and peers wait.
    case source(LiveSource?)
    case end
}
