import Glibc
import Sockets
import Takes
import Testing
import Transport

@testable import Control

/// System calls that fail.
@Suite struct SocketCallsTests {
    /// A count that closures share.
    private final class Count {
        var value = 0
    }

    private let request = "{\"id\":1,\"command\":\"lines\"}\n"
    private let reply = [#"{"id":1,"ok":true,"protocol":1,"lines":[{"id":"one"}]}"#]

    @Test func `interrupted calls are made again`() throws {
        var calls = SocketCalls()
        let real = SocketCalls()
        let failures = Count()
        func isInterrupted() -> Bool {
            failures.value += 1
            errno = EINTR
            return failures.value % 4 != 0
        }
        calls.accept = { isInterrupted() ? -1 : real.accept($0) }
        unsafe calls.receive = { unsafe isInterrupted() ? -1 : real.receive($0, $1) }
        unsafe calls.send = { unsafe isInterrupted() ? -1 : real.send($0, $1) }
        let exchange = try Exchange(calls: calls)
        #expect(exchange.reply(to: request) == reply)
        #expect(failures.value >= 12)
    }

    @Test func `a system that takes one byte at a time gets them all`() throws {
        var calls = SocketCalls()
        let real = SocketCalls()
        let count = Count()
        unsafe calls.send = { socket, bytes in
            count.value += 1
            errno = EAGAIN
            return unsafe count.value % 2 == 0 ? -1 : real.send(socket, .init(rebasing: bytes.prefix(1)))
        }
        let exchange = try Exchange(calls: calls)
        #expect(exchange.reply(to: request) == reply)
    }

    @Test func `a receive that fails ends that connection alone`() throws {
        var calls = SocketCalls()
        let real = SocketCalls()
        let count = Count()
        unsafe calls.receive = { socket, buffer in
            count.value += 1
            guard count.value == 1 else { return unsafe real.receive(socket, buffer) }
            errno = EIO
            return -1
        }
        let exchange = try Exchange(calls: calls)
        let first = exchange.peer()
        first.send(request)
        exchange.settle()
        #expect(first.lines() == [])
        #expect(first.hasEnded)
        #expect(exchange.reply(to: request) == reply)
    }

    @Test func `a send that always fails ends the connection, and what was asked is done`() throws {
        var calls = SocketCalls()
        unsafe calls.send = { _, _ in
            errno = EPIPE
            return -1
        }
        let exchange = try Exchange(calls: calls)
        let peer = exchange.peer()
        peer.send("{\"command\":\"record\"}\n{\"command\":\"stop\"}\n")
        peer.finishSending()
        exchange.settle()
        #expect(exchange.recorder.performed == [.record, .stop])
        #expect(peer.lines() == [])
        #expect(peer.hasEnded)
    }

    @Test(arguments: [EMFILE, ENFILE])
    func `without descriptors a peer is turned away, and nothing spins`(code: Int32) throws {
        var calls = SocketCalls()
        let real = SocketCalls()
        let count = Count()
        calls.accept = { listener in
            count.value += 1
            guard count.value == 1 else { return real.accept(listener) }
            errno = code
            return -1
        }
        let exchange = try Exchange(calls: calls)
        let peer = exchange.peer()
        exchange.settle()
        #expect(peer.lines() == [])
        #expect(peer.hasEnded)
        #expect(exchange.reply(to: request) == reply)
    }
}
