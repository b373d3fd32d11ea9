import Glibc
import Synchronization
import Takes
import Testing
import Workers

@testable import Ring

@Suite struct PrefaultTests {
    /// Mono, 32 bits: a frame has 4 bytes.
    private let format = StreamFormat(rateHz: 48000, channels: 1, sampleFormat: .s32)

    @Test(.enabled(if: kernelPopulates)) func `the first second of a ring is present, and all of it after prefault`() {
        let ring = Ring(format: format, holding: .seconds(30), periodFrames: 4800)
        func isPresent(_ frame: Int64) -> Bool {
            let piece = ring.withFrames(from: 0, atMost: 0) { $0.baseAddress! }
            let page = UInt(sysconf(Int32(_SC_PAGESIZE)))
            let address = (UInt(bitPattern: piece) + UInt(frame) * 4) / page * page
            var state: UInt8 = 0
            mincore(UnsafeMutableRawPointer(bitPattern: address), 1, &state)
            return state & 1 == 1
        }
        #expect(isPresent(0) && isPresent(47_999))
        #expect(!isPresent(20 * 48_000))
        ring.prefault()
        #expect(stride(from: Int64(0), to: ring.capacityFrames, by: 1024).allSatisfy(isPresent))
    }

    @Test func `frames that are written while memory is made present come out as they went in`() throws {
        let ring = Ring(format: format, holding: .seconds(30), periodFrames: 4800)
        let total = ring.capacityFrames * 3 / 2
        let prefaulter = Prefaulter(ring)
        let thread = try Thread(name: "prefault") { prefaulter.run() }
        while ring.position < RingPosition(total) {
            let room = ring.writable(min(ring.writableFrames(), total - ring.position.count))
            let samples = room.bindMemory(to: Int32.self)
            let first = ring.position.count
            for index in samples.indices { samples[index] = Int32(first) + Int32(index) }
            ring.commit(Int64(samples.count))
        }
        prefaulter.stop()
        thread.join()
        var next = ring.firstIntact
        var isInPlace = true
        while next < ring.position {
            ring.withFrames(from: next, atMost: .max) { bytes in
                let samples = bytes.bindMemory(to: Int32.self)
                for index in samples.indices where samples[index] != Int32(next.count) + Int32(index) {
                    isInPlace = false
                }
                next = next + Int64(samples.count)
            }
        }
        #expect(isInPlace)
    }
}

/// Makes the memory of a ring present repeatedly.
private final class Prefaulter: Sendable {
    private let ring: Ring
    private let isEnding = Atomic<Bool>(false)

    init(_ ring: Ring) {
        self.ring = ring
    }

    func run() {
        repeat { ring.prefault() } while !isEnding.load(ordering: .relaxed)
    }

    func stop() {
        isEnding.store(true, ordering: .relaxed)
    }
}
