import Glibc
import Sockets
import Takes
import TestBench
import Testing
import Transport

@testable import Control

/// The server of any service, here with the library's messages.
@Suite struct PeerServerTests {
    /// Answers when the test says so.
    private final class ScriptedLibrary: PeerHandler {
        var asked: [LibraryMessage] = []
        var waiting: [Answer] = []
        var peers: [PeerID] = []

        func carryOut(_ message: LibraryMessage, of peer: PeerID, answer: Answer) {
            asked.append(message)
            peers.append(peer)
            waiting.append(answer)
        }

        func answer(_ reply: some Encodable) {
            waiting.removeFirst().succeed(object: reply)
        }
    }

    private let folder = TestFolder()
    private let library = ScriptedLibrary()
    private let clock = TestClock()
    private let server: PeerServer<LibraryMessage>

    init() throws {
        server = try PeerServer(path: folder.socket, clock: clock)
        server.handler = library
    }

    private func settle() {
        var file = pollfd(fd: server.fileDescriptor, events: Int16(POLLIN), revents: 0)
        for _ in 0..<10_000 where unsafe poll(&file, 1, 0) == 1 { server.serve(clock.now()) }
    }

    private struct Status: Encodable {
        var takes: Int
        var scan: Int?
    }

    @Test func `messages of a service are carried out, and answered with the keys of an object`() throws {
        let peer = Peer(folder.socket)
        peer.send(#"{"id":1,"command":"status"}"# + "\n" + #"{"id":2,"command":"star","take":7,"starred":true}"# + "\n")
        settle()
        #expect(library.asked == [.status])
        #expect(peer.lines() == [])
        library.answer(Status(takes: 3))
        settle()
        #expect(library.asked == [.status, .change(.number(7), .starred(true))])
        library.answer(["take": JSONValue.object(["number": .integer(7)])])
        settle()
        #expect(
            peer.lines() == [
                #"{"id":1,"ok":true,"protocol":1,"takes":3}"#, #"{"id":2,"ok":true,"take":{"number":7}}"#,
            ])
    }

    @Test func `an object that is written already is put on one line`() throws {
        let peer = Peer(folder.socket)
        peer.send("{\"id\":1,\"command\":\"status\"}\n{\"id\":2,\"command\":\"status\"}\n")
        settle()
        library.waiting.removeFirst().succeed(json: "{\n\"a\":\"b\\n\",\r\n \"c\":[\n1]}\n")
        settle()
        library.waiting.removeFirst().succeed(json: " {\n} \n")
        settle()
        #expect(
            peer.lines() == [
                "{\"id\":1,\"ok\":true,\"protocol\":1,\"a\":\"b\\n\",   \"c\":[ 1]}", #"{"id":2,"ok":true}"#,
            ])
    }

    @Test func `what is no object is no reply`() throws {
        let peer = Peer(folder.socket)
        for _ in 1...2 { peer.send("{\"command\":\"status\"}\n") }
        settle()
        library.answer([1])
        settle()
        library.answer(["x": Double.nan])
        settle()
        let refusal = #""error":{"code":"internal","message":"control: the reply cannot be written"}}"#
        #expect(
            peer.lines() == [
                #"{"id":null,"ok":false,"protocol":1,"# + refusal, #"{"id":null,"ok":false,"# + refusal,
            ])
    }

    @Test func `what goes wrong names the service`() throws {
        let peer = Peer(folder.socket)
        peer.send("{\"command\":\"status\"}\n{\"command\":\"record\"}\n")
        settle()
        library.waiting = []
        settle()
        server.handler = nil
        peer.send("{\"command\":\"status\"}\n")
        settle()
        let messages = peer.lines().map { try? JSONValue(decoding: $0.utf8)["error"]?["message"]?.text }
        #expect(
            messages == [
                "control: the library gave no answer",
                "control: command: found \"record\", \(LibraryMessageTests.allowed)",
                "control: the library is shutting down",
            ])
        #expect(throws: ControlError(folder.socket, .taken(by: .library))) {
            _ = try Listener.opened(at: folder.socket, by: .library, pause: {})
        }
        #expect(
            ControlError("/x", .taken(by: .library)).description
                == "control: /x: cannot listen: another library answers there: stop it first, or choose another path")
    }

    @Test func `a reply of megabytes arrives whole, with whatever patience the peer needs in all`() throws {
        let peer = Peer(folder.socket)
        peer.send("{\"id\":1,\"command\":\"status\"}\n")
        settle()
        let text = String(repeating: "0123456789", count: 400_000)
        library.answer(["text": text])
        var lines: [String] = []
        for _ in 0..<1000 where lines.isEmpty {
            clock.advance(by: .seconds(9))
            _ = server.turn(clock.now())
            lines = peer.lines()
            settle()
        }
        // The macro would print both texts, so they are compared here.
        let isWhole = lines == [#"{"id":1,"ok":true,"protocol":1,"text":"\#(text)"}"#]
        #expect(isWhole)
        #expect(server.turn(clock.now()) == nil)
    }

    @Test func `an answer that comes long after the last request still gets its time to be read`() throws {
        let peer = Peer(folder.socket)
        peer.send("{\"id\":1,\"command\":\"status\"}\n")
        settle()
        clock.advance(by: .seconds(600))
        library.answer(["text": String(repeating: "x", count: 4_000_000)])
        #expect(server.turn(clock.now()) == clock.now() + .seconds(10))
        clock.advance(by: .seconds(10))
        #expect(server.turn(clock.now()) == nil)
        #expect(server.has(library.peers[0]) == false)
        withExtendedLifetime(peer) {}
    }

    @Test func `events to a peer that reads none are bounded, also behind a long reply`() throws {
        let peer = Peer(folder.socket)
        peer.send("{\"id\":1,\"command\":\"status\"}\n")
        settle()
        library.answer(["text": String(repeating: "x", count: 1_000_000)])
        let event = String(repeating: "e", count: 1023)
        var sent = 0
        while sent < 10_000, server.has(library.peers[0]) {
            server.send(event, to: library.peers)
            sent += 1
        }
        #expect((257...1500).contains(sent))
        withExtendedLifetime(peer) {}
    }

    @Test func `a peer that finished sending is there only if it is kept`() throws {
        let (kept, other) = (Peer(folder.socket), Peer(folder.socket))
        for peer in [kept, other] {
            peer.send("{\"id\":1,\"command\":\"status\"}\n")
            settle()
        }
        server.keep(library.peers[0])
        for peer in [kept, other] {
            library.answer(Status(takes: 1))
            peer.finishSending()
        }
        settle()
        #expect(library.peers.map(server.has) == [true, false])
        server.send("{\"event\":\"x\"}", to: library.peers)
        #expect(kept.lines().count == 2)
        #expect(other.lines().count == 1)
    }
}
