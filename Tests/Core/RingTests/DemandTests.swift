import Glibc
import Takes
import Testing

@testable import Ring

struct DemandTests {
    private let ring = Ring(
        format: StreamFormat(rateHz: 1000, channels: 1, sampleFormat: .s16), holding: .seconds(1), periodFrames: 100)

    private var isPrompt: Bool { ring.demand.isPrompt() }

    /// Whether the capture thread would be woken. Clears the demand.
    private func wakes() -> Bool {
        var descriptor = pollfd(fd: ring.demand.fileDescriptor, events: Int16(POLLIN), revents: 0)
        defer { ring.demand.clear() }
        return poll(&descriptor, 1, 0) == 1
    }

    @Test func `a reader that follows waits for no frame unless it says so`() {
        let reader = RingReader(ring)
        #expect(!isPrompt && !wakes())
        reader.isPrompt = true
        #expect(isPrompt && wakes())
        reader.isPrompt = true
        #expect(!wakes())
        reader.isPrompt = false
        #expect(!isPrompt && !wakes())
    }

    @Test func `the reader that holds frames waits for them until it is released`() {
        let reader = RingReader(holding: ring, from: .start)
        #expect(isPrompt && wakes())
        reader.release()
        #expect(!isPrompt)
        reader.release()
        #expect(!isPrompt)
    }

    @Test func `the last of several readers ends the demand, and the first alone wakes`() {
        let readers = (0..<3).map { _ in RingReader(ring, isPrompt: true) }
        #expect(wakes())
        readers[0].release()
        readers[1].release()
        #expect(isPrompt)
        readers[2].release()
        #expect(!isPrompt && !wakes())
        let next = RingReader(ring, isPrompt: true)
        #expect(isPrompt && wakes())
        next.release()
        #expect(!isPrompt)
    }

    @Test func `a reader that is gone waits for nothing`() {
        var reader: RingReader? = RingReader(ring, isPrompt: true)
        withExtendedLifetime(reader) { #expect(isPrompt) }
        reader = nil
        #expect(!isPrompt)
    }
}
