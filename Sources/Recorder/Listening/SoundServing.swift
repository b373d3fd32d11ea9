import Control
import Glibc
import Live
import Ring
import Takes

/// The peers of the sound socket, and how the frames that they get are numbered.
///
/// The numbers go on from one ring to the next and never go back. A card that is opened again in the same format goes on in the same
/// ring: what it delivered while its sound was withheld has numbers too, and is reported as skipped.
final class SoundServing {
    let acceptor: PeerAcceptor
    private let calls: SocketCalls
    private(set) var peers: [SoundPeer] = []
    private var source: (ring: Ring, base: Int64)?
    /// The ring before, without holding it, and the number behind its last frame.
    private var last: (ring: WeakRing, base: Int64, end: Int64)?
    /// What was sent last of the take that is recorded, or nil if none is.
    private var take: [UInt8]?
    private var format: StreamFormat?

    private struct WeakRing { weak var ring: Ring? }

    /// The most peers at once; the connections of more are closed at once.
    static let mostPeers = 8

    init(_ listener: consuming Listener, calls: SocketCalls) {
        acceptor = PeerAcceptor(listener, calls: calls)
        self.calls = calls
    }

    /// Whether the ring has to be looked at now and then.
    var isReading: Bool { peers.contains(where: \.isReading) }

    /// What the card delivers from now on, or nil if its sound is withheld.
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
        source = (ring, base)
        let isNew = ring.format != format
        format = ring.format
        for peer in peers { begin(peer, ring, from: position, base: base, isNew: isNew) }
    }

    private func begin(_ peer: SoundPeer, _ ring: Ring, from position: RingPosition, base: Int64, isNew: Bool) {
        let message = isNew ? SoundMessage.format(ring.format, from: base + position.count) : nil
        peer.begin(ring, from: position, base: base, format: message)
    }

    /// Which frames a take has, or where it ended.
    func note(_ take: LiveTake) {
        guard let base = source?.base ?? last?.base else { return }
        let message = SoundMessage.take(
            take, number: max(0, base + take.position.count),
            rawNanoseconds: source?.ring.rawNanoseconds(ofFrame: take.position))
        self.take = take.isOver ? nil : message
        for peer in peers { peer.say(message) }
    }

    /// Accepts peers, and sends each what its socket takes.
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

    /// Forgets peers that are gone.
    func removeGone() { peers.removeAll(where: \.isGone) }
}
