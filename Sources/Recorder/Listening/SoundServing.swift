import Glibc
import Live
import Ring
import Sockets
import Takes

/// The peers of the sound socket, and the numbering of their frames.
///
/// The numbers continue from one ring to the next and never decrease. If a card is opened again in the same format, its
/// ring continues: the frames delivered while the sound was withheld are numbered too, and are reported as skipped.
final class SoundServing {
    let acceptor: PeerAcceptor
    private let calls: SocketCalls
    private(set) var peers: [SoundPeer] = []
    /// The ring that is read, its base, and its first frame since the card was opened or its sound was withheld.
    private var source: (ring: Ring, base: Int64, start: RingPosition)?
    /// The previous ring (weakly), its base, and the number after its last frame.
    private var last: (ring: WeakRing, base: Int64, end: Int64)?
    /// The last message about the take in progress, or nil if no take is recorded.
    private var take: [UInt8]?
    private var format: StreamFormat?

    private struct WeakRing { weak var ring: Ring? }

    /// At most this many peers at once. Further connections are closed immediately.
    static let mostPeers = 8
    /// The oldest frames that a peer gets are overwritten after this time. The capture thread may be about to write half
    /// a second at once (`Demand`), and the peer needs time to begin reading.
    static let margin = Duration.seconds(1)

    init(_ listener: consuming Listener, calls: SocketCalls) {
        acceptor = PeerAcceptor(listener, calls: calls)
        self.calls = calls
    }

    /// Whether a peer reads, so that the ring must be read regularly.
    var isReading: Bool { peers.contains(where: \.isReading) }

    /// Changes the source of the frames. It is nil while the card's sound is withheld.
    func change(to new: LiveSource?) {
        guard new?.ring !== source?.ring else { return }
        if let source {
            for peer in peers { peer.pause() }
            last = (WeakRing(ring: source.ring), source.base, source.base + source.ring.position.count)
        }
        source = nil
        guard let ring = new?.ring else { return }
        let position = ring.position
        let base = last.map { $0.ring.ring === ring ? $0.base : $0.end - position.count } ?? 0
        source = (ring, base, position)
        let isNew = ring.format != format
        format = ring.format
        for peer in peers { begin(peer, ring, from: position, base: base, isNew: isNew || peer.isNew) }
    }

    private func begin(_ peer: SoundPeer, _ ring: Ring, from position: RingPosition, base: Int64, isNew: Bool) {
        let message = isNew ? SoundMessage.format(ring.format, from: base + position.count) : nil
        peer.begin(ring, from: position, base: base, format: message)
    }

    /// Receives the request of a peer. A peer that asks for the past is served like a new one, from the oldest frame on.
    /// While no card is open there is no past.
    func receive(from peer: SoundPeer) {
        guard peer.receive(), let source else { return }
        let first = max(source.start, source.ring.oldestFrame(sparing: Self.margin))
        peer.beginAgain(
            from: first, format: SoundMessage.format(source.ring.format, from: source.base + first.count),
            news: take.map { [$0] } ?? [])
    }

    /// Announces the first frame of a take, or its end.
    func note(_ take: LiveTake) {
        guard let base = source?.base ?? last?.base else { return }
        let message = SoundMessage.take(
            take, number: max(0, base + take.position.count),
            rawNanoseconds: source?.ring.rawNanoseconds(ofFrame: take.position))
        self.take = take.isOver ? nil : message
        for peer in peers { peer.say(message) }
    }

    /// Accepts peers, and sends each as much as its socket takes.
    func turn(now: Instant) {
        acceptor.accept(now: now) { socket in if peers.count < Self.mostPeers { add(socket) } }
        for peer in peers { peer.flush() }
        peers.removeAll(where: \.isGone)
    }

    private func add(_ socket: consuming Descriptor) {
        let peer = SoundPeer(socket, calls: calls)
        if let source { begin(peer, source.ring, from: source.ring.position, base: source.base, isNew: true) }
        if let take { peer.say(take) }
        peers.append(peer)
    }

    func removeGone() { peers.removeAll(where: \.isGone) }
}
