import Filters
import Glibc
import Live
import Ring
import Sockets
import Takes
import TestBench
import Testing

@testable import Control
@testable import Listening

@Suite struct ListenServerTests {
    /// Waits until the other end has sent something or closed.
    private func wait(for peer: ListenRig.Listener) {
        var descriptor = pollfd(fd: peer.socket.number, events: Int16(POLLIN), revents: 0)
        let count = unsafe poll(&descriptor, 1, 20_000)
        #expect(count == 1)
    }

    @Test func `the socket is for owner and group, streams, and is gone with the server`() throws {
        let folder = TestFolder()
        let path = folder.path + "/listen.sock"
        var server: ListenServer? = try ListenServer(path: path, clock: SystemClock())
        var information = stat()
        let found = unsafe lstat(path, &information)
        #expect(found == 0 && information.st_mode & 0o7777 == 0o660)
        let peer = ListenRig.Listener(path)
        peer.send("mono\n")
        let format = StreamFormat(rateHz: 8000, channels: 1, sampleFormat: .s16)
        let ring = Ring(format: format, holding: .seconds(1), periodFrames: 100)
        server?.stream(LiveSource(ring: ring, design: .off(rateHz: 8000)))
        wait(for: peer)
        #expect(peer.receive().count == 44)
        unsafe ring.writable(100).bindMemory(to: Int16.self).update(repeating: 7)
        ring.commit(100)
        while peer.bytes.count < 244, !peer.isOver {
            wait(for: peer)
            peer.receive()
        }
        #expect(peer.samples == Array(repeating: 7, count: 100))
        server = nil
        wait(for: peer)
        peer.receive()
        #expect(peer.isOver)
        let gone = unsafe lstat(path, &information)
        #expect(gone != 0)
    }

    @Test func `a socket that cannot be made is an error`() {
        let folder = TestFolder()
        let path = folder.path + "/listen.sock"
        #expect(unsafe mkdir(path, 0o755) == 0)
        #expect(throws: ControlError(path, .notASocket)) { try ListenServer(path: path, clock: SystemClock()) }
    }
}
