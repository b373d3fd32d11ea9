import Doctor
import Glibc
import Synchronization
import Takes
import TestBench
import Testing
import Transport

@testable import Recorder

@Suite struct ListingTests {
    /// The listed devices, each of which may hang.
    private final class Devices: Sendable {
        let asked = Atomic<Int>(0)
        let opened = Locked<[Bool]>([])
        let gate = Gate()
    }

    private final class Received { var answers: [String] = [] }

    private let clock = TestClock()
    private let devices = Devices()
    private let received = Received()

    private func listing() -> Listing<Int> {
        Listing("cards", clock: clock) { [devices] brake, asking in
            asking("Mic (card:Mic)")
            devices.opened.withLock { $0.append(!brake.isPulled) }
            devices.asked.wrappingAdd(1, ordering: .releasing)
            devices.gate.wait()
            return devices.asked.load(ordering: .acquiring)
        }
    }

    private func request(_ listing: Listing<Int>, mayOpen: Bool = true) {
        listing.request(mayOpen: mayOpen) { [received] result in
            switch result {
            case .success(let count): received.answers.append("list \(count)")
            case .failure(let refusal): received.answers.append("\(refusal.code.rawValue): \(refusal.message)")
            }
        }
    }

    private func wait(_ listing: Listing<Int>, until isDone: () -> Bool) {
        while !isDone() {
            var file = pollfd(fd: listing.fileDescriptors[0], events: Int16(POLLIN), revents: 0)
            guard poll(&file, 1, 30_000) == 1 else {
                Issue.record("nothing is reported")
                return
            }
            listing.collect()
        }
    }

    /// Waits until the worker asks a device for the `count`th time.
    private func waitUntilAsked(_ count: Int) {
        while devices.asked.load(ordering: .acquiring) < count { sched_yield() }
    }

    @Test func `requests that come while a list is made are answered by the next one, together`() {
        let listing = listing()
        request(listing)
        waitUntilAsked(1)
        request(listing)
        request(listing)
        request(listing)
        devices.gate.open()
        wait(listing) { received.answers.count == 4 }
        #expect(received.answers.first?.hasPrefix("list ") == true)
        #expect(Array(received.answers.dropFirst()) == ["list 2", "list 2", "list 2"])
        #expect(devices.asked.load(ordering: .acquiring) == 2)
        #expect(listing.turn(now: clock.now()) == nil)
    }

    @Test func `a device that hangs is named after 8 s, and is not asked by a second thread`() {
        let listing = listing()
        let first = clock.now()
        request(listing)
        waitUntilAsked(1)
        #expect(listing.turn(now: clock.now()) == first + .seconds(8))
        clock.advance(by: .milliseconds(7999))
        #expect(listing.turn(now: clock.now()) == first + .seconds(8))
        #expect(received.answers == [])
        request(listing)
        clock.advance(by: .milliseconds(1))
        #expect(listing.turn(now: clock.now()) == first + .milliseconds(15_999))
        let sentence = "s: unplug it and plug it in again, then try again"
        #expect(received.answers == ["busy: cards: Mic (card:Mic) has not answered for 8 \(sentence)"])
        for _ in 0..<10 {
            clock.advance(by: .seconds(8))
            _ = listing.turn(now: clock.now())
            request(listing)
        }
        clock.advance(by: .seconds(8))
        #expect(listing.turn(now: clock.now()) == nil)
        #expect(received.answers.last == "busy: cards: Mic (card:Mic) has not answered for 96 \(sentence)")
        #expect(received.answers.count == 12)
        #expect(devices.asked.load(ordering: .acquiring) == 1)
        request(listing)
        devices.gate.open()
        wait(listing) { received.answers.count == 13 }
        #expect(received.answers.last == "list 2")
    }

    @Test func `no device is opened for a list while a take is recorded`() {
        devices.gate.open()
        let listing = listing()
        for (index, mayOpen) in [true, false, true].enumerated() {
            request(listing, mayOpen: mayOpen)
            wait(listing) { received.answers.count == index + 1 }
        }
        #expect(devices.opened.withLock { $0 } == [true, false, true])
    }

    @Test func `a take that begins stops the opening of devices for lists that are ordered`() {
        let listing = listing()
        request(listing)
        waitUntilAsked(1)
        request(listing)
        listing.stopOpening()
        devices.gate.open()
        wait(listing) { received.answers.count == 2 }
        request(listing)
        wait(listing) { received.answers.count == 3 }
        #expect(devices.opened.withLock { $0 } == [true, false, true])
    }

    @Test func `a listing that still hangs does not delay the end of the process`() {
        do {
            let listing = listing()
            request(listing)
            waitUntilAsked(1)
        }
        // The listing was released, but its thread was not.
        #expect(devices.asked.load(ordering: .acquiring) == 1)
        devices.gate.open()
    }
}
