import Glibc
import Live
import Ring
import Sockets
import Takes
import Testing

@testable import Listening

/// Peers and cards that come and go.
@Suite struct ListenLoopTests {
    @Test func `a slow peer skips whole frames, and delays neither the card nor another peer`() throws {
        let rig = try ListenRig()
        rig.open()
        let (slow, quick) = (rig.peer(), rig.peer())
        // Three times the length of the ring, and more than any socket buffer.
        var mostWaiting = 0
        for _ in 0..<1500 {
            rig.deliver(80)
            rig.turn()
            quick.receive()
            mostWaiting = max(mostWaiting, rig.loop.peers.map(\.waitingBytes).max() ?? 0)
        }
        // Half a second of stereo.
        #expect(mostWaiting <= 8000 / 2 * 4)
        let all = (0..<120_000).map { Int16(truncatingIfNeeded: $0) }
        #expect(quick.frames == all)
        var received = slow.frames.count
        #expect(received < 110_000)
        #expect(slow.frames == Array(all[..<received]))
        // Once it reads again, it gets live sound.
        rig.turn()
        received = slow.frames.count
        rig.deliver(80)
        rig.turn()
        let newest = (120_000..<120_080).map { Int16(truncatingIfNeeded: $0) }
        #expect(slow.frames.suffix(80) == newest[...])
        #expect(slow.frames.count == received + 80 && !slow.isOver)
    }

    @Test func `a loop that gets no processor time loses what was overwritten, and goes on`() throws {
        let rig = try ListenRig()
        rig.open()
        let peer = rig.peer()
        rig.deliver(100)
        rig.turn()
        rig.deliver(100_000)
        rig.turn()
        peer.receive()
        rig.turn()
        let frames = peer.frames
        #expect(frames.count > 100 && frames.count < 40_000)
        #expect(frames.last == Int16(truncatingIfNeeded: 100_099))
    }

    @Test func `who comes after all others have left gets what is sampled from then on`() throws {
        let rig = try ListenRig()
        rig.open()
        for number in 0..<2 {
            let peer = rig.peer()
            rig.deliver(10)
            rig.turn()
            #expect(peer.frames == (0..<10).map { Int16($0 + 110 * number) })
            shutdown(peer.socket.number, Int32(SHUT_RDWR))
            rig.loop.wait()
            rig.turn()
            rig.deliver(100)
        }
    }

    @Test func `without a card peers wait, and each gets its header once there is one`() throws {
        let rig = try ListenRig()
        let (peer, mono) = (rig.peer(), rig.peer(asking: "mono\n"))
        rig.turn(after: .seconds(60))
        #expect(peer.receive() == [] && mono.receive() == [])
        rig.open(rateHz: 16000)
        rig.turn()
        #expect(peer.receive().count == 44 && mono.receive().count == 44)
        #expect(peer.bytes[24..<28] == [0x80, 0x3e, 0, 0] && mono.bytes[22] == 1)
    }

    @Test func `a card that is away and back at the same rate goes on in the same stream`() throws {
        let rig = try ListenRig()
        rig.open()
        let peer = rig.peer()
        rig.deliver(10)
        rig.turn()
        let ring = rig.ring
        rig.close()
        rig.turn()
        rig.turn(after: .seconds(5))
        rig.open(in: ring)
        // Sound captured before the loop knows of the card, such as playback, is not streamed.
        rig.deliver(20)
        rig.turn()
        rig.deliver(5)
        rig.turn()
        #expect(peer.frames == Array(0..<10) + Array(30..<35) && !peer.isOver)
        rig.open(rateHz: 8000, channels: 4)
        rig.turn()
        rig.deliver(2) { frame, channel in channel == 0 ? Int16(frame) : ~Int16(frame) }
        rig.turn()
        #expect(peer.frames.suffix(2) == [0, 1] && !peer.isOver)
    }

    @Test func `a card that is back at another rate ends the stream`() throws {
        let rig = try ListenRig()
        rig.open(rateHz: 8000)
        let peer = rig.peer()
        rig.open(rateHz: 16000)
        rig.turn()
        #expect(peer.receive().count == 44 && peer.isOver && rig.loop.peers.isEmpty)
        let next = rig.peer()
        #expect(next.receive()[24..<28] == [0x80, 0x3e, 0, 0])
    }

    @Test func `the ring of a card that is closed is not kept`() throws {
        let rig = try ListenRig()
        rig.open()
        let peer = rig.peer()
        rig.turn()
        let card = Card(ring: rig.ring)
        rig.close()
        rig.turn()
        #expect(card.ring == nil && !peer.isOver)
    }

    @Test func `the ninth peer is refused, until another has left`() throws {
        let rig = try ListenRig()
        rig.open()
        var peers = (0..<ListenLoop.mostPeers).map { _ in rig.peer() }
        let ninth = rig.peer()
        #expect(ninth.receive() == [] && ninth.isOver)
        #expect(rig.loop.peers.count == ListenLoop.mostPeers)
        peers.removeLast()
        rig.deliver(10)
        // The connection of the removed peer fails, so there is room for another.
        rig.turn()
        let tenth = rig.peer()
        rig.deliver(10)
        rig.turn()
        #expect(tenth.frames.count == 10 && peers.allSatisfy { $0.frames.count == 20 })
    }

    @Test func `a peer that leaves while no card is there is removed`() throws {
        let rig = try ListenRig()
        for _ in 0..<100 { _ = rig.peer() }
        // It waits no longer than it takes to see that, or this order.
        rig.open()
        rig.loop.wait()
        #expect(rig.loop.peers.isEmpty)
    }

    @Test func `a peer that cannot be accepted is tried again after a second`() throws {
        let isFull = Flag(true)
        var calls = SocketCalls()
        let real = SocketCalls()
        var attempts = 0
        calls.accept = {
            attempts += 1
            errno = EMFILE
            return isFull.value ? -1 : real.accept($0)
        }
        let rig = try ListenRig(calls: calls)
        rig.open()
        let peer = ListenRig.Listener(rig.path)
        for _ in 0..<20 { rig.turn(after: .milliseconds(10)) }
        // One at each of the two sockets.
        #expect(attempts == 2)
        isFull.value = false
        rig.turn(after: PeerAcceptor.rest)
        rig.turn(after: ListeningPeer.patience)
        #expect(peer.receive().count == 44)
    }

    @Test(arguments: [EINTR, ECONNABORTED])
    func `an accept that is interrupted is made again`(code: Int32) throws {
        var calls = SocketCalls()
        let real = SocketCalls()
        var failures = 3
        calls.accept = {
            failures -= 1
            errno = code
            return failures >= 0 ? -1 : real.accept($0)
        }
        let rig = try ListenRig(calls: calls)
        rig.open()
        #expect(rig.peer().receive().count == 44)
    }

    @Test(arguments: [EPIPE, ECONNRESET, EIO])
    func `a send that fails ends that peer alone`(code: Int32) throws {
        var calls = SocketCalls()
        let real = SocketCalls()
        // The socket's number is not checked, because the next peer may get the same.
        var sends = 0
        unsafe calls.send = { socket, bytes in
            sends += 1
            guard sends == 1 else { return unsafe real.send(socket, bytes) }
            errno = code
            return -1
        }
        let rig = try ListenRig(calls: calls)
        rig.open()
        let (first, second) = (rig.peer(), rig.peer())
        rig.deliver(10)
        rig.turn()
        #expect(first.receive() == [] && first.isOver)
        #expect(second.frames.count == 10)
    }

    @Test func `a socket that takes one byte at a time gets all of them`() throws {
        var calls = SocketCalls()
        let real = SocketCalls()
        var count = 0
        unsafe calls.send = { socket, bytes in
            count += 1
            errno = count % 3 == 0 ? EAGAIN : EINTR
            return unsafe count % 3 == 2 ? real.send(socket, .init(rebasing: bytes.prefix(1))) : -1
        }
        let rig = try ListenRig(calls: calls)
        rig.open()
        let peer = rig.peer()
        rig.deliver(100)
        for _ in 0..<500 {
            rig.turn()
            peer.receive()
        }
        #expect(peer.frames == Array(0..<100))
    }

    @Test func `a receive that fails ends that peer`() throws {
        var calls = SocketCalls()
        unsafe calls.receive = { _, _ in
            errno = EIO
            return -1
        }
        let rig = try ListenRig(calls: calls)
        #expect(rig.peer().receive() == [])
        #expect(rig.loop.peers.isEmpty)
    }

    private struct Card {
        weak var ring: Ring?
    }

    private final class Flag {
        var value: Bool
        init(_ value: Bool) { self.value = value }
    }
}
