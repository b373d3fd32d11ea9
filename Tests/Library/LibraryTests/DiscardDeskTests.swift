import Catalog
import Control
import DiskCalls
import FinishedTakes
import Foundation
import Takes
import TestBench
import Testing
import Transport

@testable import Library

@Suite(.waitsOnNamedThreads, .timeLimit(.minutes(15))) struct DiscardDeskTests {
    private let disk = TakesOnDisk()
    private let inHand = ParcelsInHand()
    private let stem = "heron07-0042-061811Z"
    private var socket: String { "\(disk.path)/recorder.sock" }

    private func desk(isListed: @escaping @Sendable (TakeIdentity) -> Bool = { _ in false }) throws -> DiscardDesk {
        try inHand.beginDeleting(.take(TakeIdentity(stem: stem)))
        return try DiscardDesk(
            recorder: socket, inHand, pause: .milliseconds(1), clock: TestClock(), isListed: isListed)
    }

    @Test func `without a recorder a take is let go at once`() async throws {
        guard case .away = await (try desk()).discard(TakeIdentity(stem: stem), DiscardTerms()) else {
            return #expect(Bool(false))
        }
        try inHand.beginDeleting(.take(TakeIdentity(stem: stem)))
    }

    @Test func `a take of which the recorder does not say what became of it stays in hand until it does`() async throws
    {
        // A recorder that closes each connection, as when it ends; a working one replaces it later.
        let listener = try #require(try? Listening(socket))
        let desk = try desk()
        guard case .unanswered = await desk.discard(TakeIdentity(stem: stem), DiscardTerms()) else {
            return #expect(Bool(false))
        }
        #expect(throws: Refusal.self) { try inHand.beginDeleting(.take(TakeIdentity(stem: stem))) }
        #expect(!inHand.beginSending(.take(TakeIdentity(stem: stem))))
        listener.stop()
        let recorder = try DeskRecorder(socket)
        defer { recorder.stop() }
        #expect(
            await recorder.next()
                == .command(.discard(stem: stem, DiscardTerms(notAfter: TestClock().now() + .seconds(60)))))
        while (try? inHand.beginDeleting(.take(TakeIdentity(stem: stem)))) == nil { await Task.yield() }
    }

    @Test func `orders of a library before this one are waited for`() async throws {
        let take = try #require(TakeName(stem: stem, day: "2026-11-21"))
        let desk = try desk()
        // Without a recorder, there are no orders.
        try await desk.awaitOrders(of: take)
        let listener = try #require(try? Listening(socket))
        await #expect(throws: ControlError.self) { try await desk.awaitOrders(of: take) }
        listener.stop()
        let recorder = try DeskRecorder(socket)
        defer { recorder.stop() }
        try await desk.awaitOrders(of: take)
        for _ in 0..<2 {
            #expect(await recorder.next() == .command(.settle(stem: stem, day: "2026-11-21")))
        }
    }

    @Test func `a take is let go once the catalog lists it no longer`() async throws {
        let recorder = try DeskRecorder(socket)
        defer { recorder.stop() }
        let asked = Locked(0)
        let inHand = inHand
        let desk = try desk { take in
            asked.withLock { $0 += 1 }
            #expect(throws: Refusal.self) { try inHand.beginDeleting(.take(take)) }
            return asked.withLock { $0 } < 3
        }
        guard case .deleted = await desk.discard(TakeIdentity(stem: stem), DiscardTerms()) else {
            return #expect(Bool(false))
        }
        #expect(asked.withLock { $0 } == 3)
        try inHand.beginDeleting(.take(TakeIdentity(stem: stem)))
    }
}

/// A socket whose connections are closed as soon as data arrive.
private final class Listening: @unchecked Sendable {
    private let descriptor: Int32
    private let path: String
    private let thread: Thread

    init(_ path: String) throws {
        self.path = path
        let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
        self.descriptor = descriptor
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: Array(path.utf8)) }
        let bound = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        precondition(bound == 0 && listen(descriptor, 8) == 0)
        thread = Thread {
            while true {
                let peer = accept(descriptor, nil, nil)
                guard peer >= 0 else { return }
                var byte: UInt8 = 0
                _ = recv(peer, &byte, 1, 0)
                close(peer)
            }
        }
        thread.start()
    }

    func stop() {
        shutdown(descriptor, Int32(SHUT_RDWR))
        close(descriptor)
        unlink(path)
    }
}
