import Glibc
import Takes
import Testing
import Transport

@testable import Control

/// What peers that are slow, greedy or gone may cost.
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

    @Test func `a peer that floods and reads nothing takes no more than its turn, and is dropped in the end`() throws {
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
            #expect(exchange.recorder.performed.count - before <= ControlServer.mostRequestsPerTurn)
            #expect(other.lines().count == 1)
        }
        // Its replies fill what the system holds for it: no more is read.
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

    @Test func `a watcher that does not read is dropped, and the others are told everything`() throws {
        let exchange = try Exchange()
        let slow = exchange.peer()
        let quick = exchange.peer()
        for peer in [slow, quick] { peer.send("{\"command\":\"watch\"}\n") }
        exchange.settle()
        var told = quick.lines().count - 1
        var published = 0
        while published < 20_000, !slow.hasEndedUnread {
            exchange.server.publish(levels: exchange.recorder.status)
            exchange.server.serve(exchange.now)
            published += 1
            told += quick.lines().count
        }
        #expect(published < 20_000)
        #expect(told == published)
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

    @Test func `one connection too many is told so, and there is room again when one goes`() throws {
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

    @Test func `what peers leave behind wakes nobody`() throws {
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
    /// Whether the other end is closed, found out without reading what waits here.
    fileprivate var hasEndedUnread: Bool {
        var file = pollfd(fd: socket.number, events: 0, revents: 0)
        return unsafe poll(&file, 1, 0) == 1 && Int32(file.revents) & POLLHUP != 0
    }
}
