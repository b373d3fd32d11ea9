import DiskCalls
import Dispatch
import Foundation
import NIOCore
import Takes
import TestBench
import Testing

@testable import Console

@Suite(.waitsOnNamedThreads) struct TicketTests {
    @Test func `of many browsers at once one uses the ticket`() throws {
        let place = TestFolder()
        let secret = String(repeating: "0a", count: 16)
        place.write("\(secret)\n", to: "ticket")
        let ticket = Ticket(in: place.path)
        let accepted = Locked(0)
        DispatchQueue.concurrentPerform(iterations: 50) { _ in
            if ticket.redeem(secret) { accepted.withLock { $0 += 1 } }
        }
        #expect(accepted.withLock(\.self) == 1)
        #expect(try FileManager.default.contentsOfDirectory(atPath: place.path) == [])
    }

    @Test(arguments: [
        ("127.0.0.1", true), ("127.8.0.1", true), ("::1", true), ("::ffff:127.0.0.1", true), ("192.168.4.7", false),
        ("::ffff:192.168.4.7", false), ("fe80::1", false), ("::2", false),
    ])
    func `only addresses of the machine itself are its own`(address: String, isOwn: Bool) throws {
        #expect(BrowserAddress(try SocketAddress(ipAddress: address, port: 80)).isThisMachine == isOwn)
    }
}
