import Ring
import Takes
import Testing

struct RingPoolTests {
    private let format = StreamFormat(rateHz: 1000, channels: 1, sampleFormat: .s16)

    @Test func `an opening in the same format goes on in the same ring`() throws {
        let pool = RingPool(memoryBytes: 1 << 30)
        let first = try #require(pool.ring(format: format, holding: .seconds(1), periodFrames: 100))
        let piece = first.writable(100)
        piece.initializeMemory(as: UInt8.self, repeating: 0)
        first.commit(100)
        first.stamp(Stamp(position: 0, instant: Instant(nanoseconds: 0), kind: .started))
        let second = try #require(pool.ring(format: format, holding: .seconds(1), periodFrames: 100))
        #expect(first === second)
        #expect(second.position == 100)
        #expect(second.hasStarted(since: 0))
        #expect(!second.hasStarted(since: 100))
        second.stamp(Stamp(position: 100, instant: Instant(nanoseconds: 0), kind: .started))
        #expect(second.hasStarted(since: 100))
    }

    @Test func `there is no second ring while one of another format is read`() throws {
        let pool = RingPool(memoryBytes: 1 << 30)
        var reader: RingReader? = RingReader(
            try #require(pool.ring(format: format, holding: .seconds(1), periodFrames: 100)))
        var other = format
        other.rateHz = 2000
        #expect(pool.ring(format: other, holding: .seconds(1), periodFrames: 100) == nil)
        // The card may return in its old format before that.
        #expect(pool.ring(format: format, holding: .seconds(1), periodFrames: 100) === reader?.ring)
        #expect(pool.ring(format: format, holding: .seconds(1), periodFrames: 200) == nil)
        reader = nil
        #expect(pool.ring(format: other, holding: .seconds(1), periodFrames: 100)?.format == other)
    }

    @Test func `the memory of the machine bounds the ring`() throws {
        let pool = RingPool(memoryBytes: 8000)
        let ring = try #require(pool.ring(format: format, holding: .seconds(30), periodFrames: 100))
        #expect(ring.byteCount == 1000)
    }
}
