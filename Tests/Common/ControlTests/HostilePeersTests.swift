import Glibc
import Takes
import TestBench
import Testing
import Transport

@testable import Control

/// The cost of hostile peers for the loop that serves them.
@Suite struct HostilePeersTests {
    /// Lines that would take long to read, or whose long texts must not be passed on.
    private static let refused: [(String, Refusal.Code)] = [
        (#"{"command":"status","x":"# + String(repeating: "[1],", count: 9000) + "1}", .badData),
        (#"{"command":"status","x":[[[[[["# + String(repeating: "[1],", count: 9000) + "1]]]]]]}", .badData),
        (#"{"command":"status","x":["# + String(repeating: #""","#, count: 9000) + "1]}", .badData),
        (#"{"command":"status","x":["# + String(repeating: "{},", count: 300) + "1]}", .badData),
        (String(repeating: "[", count: 60_000), .badData),
        (#"{"command":"mark","note":""# + String(repeating: "x", count: 1001) + "\"}", .usage),
        (#"{"command":"select","take":""# + String(repeating: "x", count: 101) + "\"}", .usage),
        (#"{"command":"light","lamp":""# + String(repeating: "x", count: 101) + "\"}", .usage),
    ]

    @Test(arguments: refused)
    func `a line that costs more than any request needs is refused in few words`(_ line: String, _ code: Refusal.Code) {
        do throws(RequestError) {
            _ = try Request<RecorderMessage>.read(Array(line.utf8)[...])
            Issue.record("it is read")
        } catch {
            #expect(error.refusal.code == code)
            #expect(error.refusal.message.utf8.count < 200)
        }
    }

    @Test func `what stands in a text is not counted`() throws {
        let note = String(repeating: #"[{,\"\\"#, count: 140)
        let line = Request<RecorderMessage>(.command(.mark(note: note))).line
        #expect(try Request<RecorderMessage>.read(Array(line.utf8)[...]).message == .command(.mark(note: note)))
        let most =
            #"{"command":"status","x":["# + String(repeating: "1,", count: Request<RecorderMessage>.mostValues - 4)
            + "1]}"
        #expect(try Request<RecorderMessage>.read(Array(most.utf8)[...]).message == .status)
    }

    @Test func `peers whose requests take long have no more than their time of a turn, one after the other`() throws {
        let exchange = try Exchange()
        let clock = exchange.clock
        // Simulates a recorder on a machine that needs 7 ms for a command.
        exchange.recorder.perform = { _, answer, status in
            clock.advance(by: .milliseconds(7))
            answer.succeed(status)
        }
        let peers = (0..<8).map { _ in exchange.peer() }
        exchange.settle()
        for peer in peers { peer.send(String(repeating: "{\"command\":\"pause\"}\n", count: 6)) }
        var answered = [Int](repeating: 0, count: peers.count)
        var turns = 0
        while answered.reduce(0, +) < 48, turns < 100 {
            let before = exchange.recorder.performed.count
            exchange.server.serve(exchange.now)
            turns += 1
            #expect(exchange.recorder.performed.count - before <= 3)
            for index in peers.indices { answered[index] += peers[index].lines().count }
            // No peer gets a second turn before all had their first.
            if turns == 16 { #expect(answered.allSatisfy { $0 > 0 }) }
        }
        #expect(answered == [Int](repeating: 6, count: 8))
    }

    @Test func `after a long turn the server rests twice as long, and waiting peers are served then`() throws {
        let exchange = try Exchange()
        let clock = exchange.clock
        exchange.recorder.perform = { _, answer, status in
            clock.advance(by: .milliseconds(30))
            answer.succeed(status)
        }
        let (busy, other) = (exchange.peer(), exchange.peer())
        exchange.settle()
        #expect(exchange.server.turn(clock.now()) == nil)
        busy.send("{\"command\":\"pause\"}\n{\"command\":\"pause\"}\n")
        exchange.server.serve(clock.now())
        other.send("{\"command\":\"lines\"}\n")
        let end = clock.now() + .milliseconds(60)
        #expect(exchange.server.turn(clock.now()) == end)
        #expect(!exchange.isReadable)
        clock.advance(by: .milliseconds(59))
        #expect(exchange.server.turn(clock.now()) == end)
        #expect(!exchange.isReadable)
        clock.advance(by: .milliseconds(1))
        #expect(exchange.server.turn(clock.now()) == nil)
        #expect(exchange.isReadable)
        exchange.server.serve(clock.now())
        #expect(busy.lines().count + other.lines().count >= 2)

        exchange.recorder.perform = { _, answer, status in
            clock.advance(by: .seconds(2))
            answer.succeed(status)
        }
        busy.send("{\"command\":\"pause\"}\n")
        exchange.server.serve(clock.now())
        #expect(exchange.server.turn(clock.now()) == clock.now() + .milliseconds(100))
    }

    @Test func `a peer that reads nothing is dropped when its time is over, though nothing else happens`() throws {
        let exchange = try Exchange()
        let peer = exchange.peer()
        let requests = Array(String(repeating: "{\"command\":\"pause\"}\n", count: 20_000).utf8)
        var sent = 0
        for _ in 0..<1000 where exchange.server.turn(exchange.now) == nil {
            sent += max(0, peer.send(Array(requests[sent...])))
            exchange.server.serve(exchange.now)
        }
        exchange.settle()
        let end = exchange.now + .seconds(10)
        #expect(exchange.server.turn(exchange.now) == end)
        exchange.now = end
        // A loop with a deadline in the past would turn without end.
        #expect(exchange.server.turn(exchange.now) == nil)
        #expect(peer.send([0x20]) == -1)
        #expect(errno == EPIPE)
    }

    @Test func `a peer that sends a byte now and then delays no other`() throws {
        let exchange = try Exchange()
        let slow = exchange.peer()
        let other = exchange.peer()
        exchange.settle()
        for byte in Array("{\"command\":\"pause\"}".utf8) {
            slow.send([byte])
            exchange.settle()
            other.send("{\"command\":\"lines\"}\n")
            exchange.settle()
            #expect(other.lines().count == 1)
        }
        #expect(exchange.recorder.performed == [])
        slow.send("\n")
        exchange.settle()
        #expect(slow.lines().count == 1)
    }
}
