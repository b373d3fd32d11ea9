import Glibc
import Sockets
import Takes
import Testing
import Transport

@testable import Control

/// Limits for peers that are slow, greedy or gone.
@Suite struct ControlLimitsTests {
    @Test func `thousands of requests at once are all answered, in their order`() throws {
        let exchange = try Exchange()
        let peer = exchange.peer()
        let requests = Array((1...5000).map { "{\"id\":\($0),\"command\":\"pause\"}\n" }.joined().utf8)
        var sent = 0
        var replies: [String] = []
        for _ in 0..<100_000 where replies.count < 5000 {
            if sent < requests.count { sent += max(0, peer.send(Array(requests[sent...]))) }
            exchange.server.serve(exchange.now)
            replies += peer.lines()
        }
        let status = "\"ok\":true,\(idleStatus)}"
        #expect(replies.first == "{\"id\":1,\"ok\":true,\"protocol\":1,\(idleStatus)}")
        #expect(replies.dropFirst() == (2...5000).map { "{\"id\":\($0),\(status)" }[...])
        #expect(exchange.recorder.performed.count == 5000)
    }

    @Test func `a peer that floods and reads nothing gets only its share of a turn, and is dropped in the end`() throws
    {
        let exchange = try Exchange()
        let flood = exchange.peer()
        let requests = Array(String(repeating: "{\"command\":\"pause\"}\n", count: 20_000).utf8)
        var sent = 0
        let other = exchange.peer()
        exchange.settle()
        for turn in 1...200 {
            sent += max(0, flood.send(Array(requests[sent...])))
            let before = exchange.recorder.performed.count
            other.send("{\"id\":\(turn),\"command\":\"lines\"}\n")
            exchange.server.serve(exchange.now)
            #expect(exchange.recorder.performed.count - before <= PeerLimits.mostRequestsPerTurn)
            #expect(other.lines().count == 1)
        }
        // Its replies fill the socket's buffer, so nothing more is read.
        let performed = exchange.recorder.performed.count
        exchange.settle()
        #expect(exchange.recorder.performed.count == performed)
        #expect(exchange.server.deadline == exchange.now + .seconds(10))

        exchange.now = exchange.now + .seconds(9)
        #expect(exchange.server.turn(exchange.now) == exchange.now + .seconds(1))
        #expect(flood.send([0x20]) != -1 || errno == EAGAIN)
        exchange.now = exchange.now + .seconds(1)
        #expect(exchange.server.turn(exchange.now) == nil)
        #expect(exchange.server.deadline == nil)
        #expect(flood.send([0x20]) == -1)
        #expect(errno == EPIPE)
    }

    @Test func `a watcher that does not read is dropped, and the others get everything`() throws {
        let exchange = try Exchange()
        let slow = exchange.peer()
        let quick = exchange.peer()
        for peer in [slow, quick] { peer.send("{\"command\":\"watch\"}\n") }
        exchange.settle()
        var received = quick.lines().count - 1
        var published = 0
        while published < 20_000, !slow.hasEndedUnread {
            exchange.server.publish(levels: exchange.recorder.status)
            exchange.server.serve(exchange.now)
            published += 1
            received += quick.lines().count
        }
        #expect(published < 20_000)
        #expect(received == published)
        #expect(exchange.server.hasWatchers)
        exchange.server.publish(levels: exchange.recorder.status)
        #expect(quick.lines().count == 1)
    }

    @Test func `a watcher that reads again in time goes on where it was`() throws {
        let exchange = try Exchange()
        let peer = exchange.peer()
        peer.send("{\"command\":\"watch\"}\n")
        exchange.settle()
        var status = exchange.recorder.status
        var published = 0
        while exchange.server.deadline == nil, published < 20_000 {
            published += 1
            status.frames = Int64(published)
            exchange.server.publish(levels: status)
        }
        exchange.now = exchange.now + .seconds(9)
        var lines = peer.lines()
        while exchange.isReadable {
            exchange.server.serve(exchange.now)
            lines += peer.lines()
        }
        #expect(lines.count == published + 1)
        #expect(lines.last?.contains("\"frames\":\(published),") == true)
        #expect(exchange.server.deadline == nil)
    }

    @Test func `one connection too many is refused with a reason, and there is room again when one goes`() throws {
        let exchange = try Exchange()
        var peers = (1...32).map { _ in
            let peer = exchange.peer()
            exchange.settle()
            return peer
        }
        let late = exchange.peer()
        exchange.settle()
        #expect(
            late.lines() == [
                #"{"id":null,"ok":false,"protocol":1,"error":{"code":"busy","message":"control: 32 connections are "#
                    + #"open already: close one"}}"#
            ])
        #expect(late.hasEnded)
        peers.removeLast()
        exchange.settle()
        #expect(exchange.reply(to: "{\"command\":\"lines\"}\n").count == 1)
        #expect(peers.count == 31)
    }

    @Test func `peers of other users leave four places to root and the recorder's own user`() throws {
        let peers = Users()
        var calls = SocketCalls()
        calls.isPrivileged = { _ in peers.isPrivileged }
        let exchange = try Exchange(calls: calls)
        let others = (1...28).map { _ in
            let peer = exchange.peer()
            exchange.settle()
            return peer
        }
        let late = exchange.reply(to: "{\"command\":\"lines\"}\n")
        #expect(late.count == 1)
        #expect(late.first?.contains("28 connections are open already") == true)
        peers.isPrivileged = true
        let own = (1...4).map { _ in
            let peer = exchange.peer()
            exchange.settle()
            return peer
        }
        for peer in own { peer.send("{\"command\":\"lines\"}\n") }
        exchange.settle()
        #expect(own.map { $0.lines().map { $0.contains("\"ok\":true") } } == Array(repeating: [true], count: 4))
        #expect(exchange.reply(to: "{\"command\":\"lines\"}\n").first?.contains("32 connections") == true)
        #expect(others.count == 28)
    }

    /// The user of the next connection.
    private final class Users {
        var isPrivileged = false
    }

    @Test func `a peer of this process's own user is privileged`() throws {
        var ends: [Int32] = [-1, -1]
        #expect(unsafe socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &ends) == 0)
        #expect(SocketCalls().isPrivileged(ends[0]))
        for end in ends { close(end) }
        #expect(SocketCalls().isPrivileged(-1) == false)
    }

    @Test func `a peer that is silent for a minute in the middle of a line is dropped, one between lines stays`() throws
    {
        let exchange = try Exchange()
        let (half, idle) = (exchange.peer(), exchange.peer())
        idle.send("{\"command\":\"lines\"}\n")
        half.send("{\"comm")
        exchange.settle()
        #expect(exchange.server.turn(exchange.now) == exchange.now + .seconds(60))
        // Any byte restarts the time limit.
        exchange.now = exchange.now + .seconds(59)
        half.send("and")
        exchange.settle()
        let end = exchange.now + .seconds(60)
        exchange.now = end - .milliseconds(1)
        #expect(exchange.server.turn(exchange.now) == end)
        #expect(half.lines() == [])
        exchange.now = end
        #expect(exchange.server.turn(exchange.now) == nil)
        #expect(
            half.lines() == [
                #"{"id":null,"ok":false,"protocol":1,"error":{"code":"bad-data","message":"control: the line was not "#
                    + #"continued for 60 s"}}"#
            ])
        #expect(half.hasEnded)
        exchange.now = exchange.now + .seconds(3600)
        _ = exchange.server.turn(exchange.now)
        idle.send("{\"command\":\"lines\"}\n")
        exchange.settle()
        #expect(idle.lines().count == 2)
    }

    @Test func `half a line behind a request that takes long waits for the answer`() throws {
        let exchange = try Exchange()
        var waiting: [Answer] = []
        exchange.recorder.perform = { _, answer, _ in waiting.append(answer) }
        let peer = exchange.peer()
        peer.send("{\"command\":\"stop\"}\n{\"comm")
        exchange.settle()
        exchange.now = exchange.now + .seconds(600)
        #expect(exchange.server.turn(exchange.now) == nil)
        waiting.removeFirst().succeed(exchange.recorder.status)
        exchange.settle()
        #expect(peer.lines().count == 1)
        #expect(!peer.hasEnded)
    }

    @Test func `what peers leave behind does not wake the loop`() throws {
        let exchange = try Exchange()
        var waiting: [Answer] = []
        exchange.recorder.perform = { _, answer, _ in waiting.append(answer) }
        let half = exchange.peer()
        half.send("{\"comm")
        let watcher = exchange.peer()
        watcher.send("{\"command\":\"watch\"}\n")
        watcher.finishSending()
        let patient = exchange.peer()
        patient.send("{\"command\":\"stop\"}\n{\"command\":\"stop\"}\n")
        patient.finishSending()
        do {
            let gone = exchange.peer()
            gone.send("{\"command\":\"stop\"}\n{\"command\":\"stop\"}\n")
            exchange.settle()
        }
        exchange.settle()
        #expect(!exchange.isReadable)
        #expect(waiting.count == 2)
    }
}

extension Peer {
    /// Whether the other end is closed, determined without reading the pending input.
    fileprivate var hasEndedUnread: Bool {
        var file = pollfd(fd: socket.number, events: 0, revents: 0)
        return unsafe poll(&file, 1, 0) == 1 && Int32(file.revents) & POLLHUP != 0
    }
}
