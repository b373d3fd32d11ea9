import Takes
import Testing
import Workers

@testable import Ring

/// Mono, 16 bits, 1000 frames a second: a frame has 2 bytes and lasts 1 ms.
private let format = StreamFormat(rateHz: 1000, channels: 1, sampleFormat: .s16)

/// Writes frames whose samples count up from `value`.
private func write(_ count: Int64, from value: Int64, to ring: Ring) {
    var written: Int64 = 0
    while written < count {
        let room = ring.writable(min(count - written, ring.maximumWriteFrames))
        let samples = room.bindMemory(to: Int16.self)
        for index in samples.indices {
            samples[index] = Int16(truncatingIfNeeded: value + written + Int64(index))
        }
        ring.commit(Int64(samples.count))
        written += Int64(samples.count)
    }
}

private func read(_ ring: Ring, from first: RingPosition) -> [Int16] {
    var samples: [Int16] = []
    var next = first
    while next < ring.position {
        ring.withFrames(from: next, atMost: .max) { bytes in
            samples += bytes.bindMemory(to: Int16.self)
            next = next + Int64(bytes.count / 2)
        }
    }
    return samples
}

@Suite struct RingTests {
    @Test func `frames come out as they went in, across the wrap`() {
        let ring = Ring(format: format, holding: .milliseconds(1000), periodFrames: 100)
        for start in stride(from: Int64(0), to: 2500, by: 70) { write(70, from: start, to: ring) }
        let expected = (1600..<2520).map { Int16($0) }
        #expect(read(ring, from: 1600) == expected)
        #expect(ring.position == 2520)
    }

    @Test func `while nothing is held the oldest frames are overwritten`() {
        let ring = Ring(format: format, holding: .milliseconds(1000), periodFrames: 100)
        write(5000, from: 0, to: ring)
        #expect(ring.writableFrames() == 100)
    }

    @Test func `the oldest frame with a margin stays while the card delivers that margin`() {
        let ring = Ring(format: format, holding: .milliseconds(1000), periodFrames: 100)
        #expect(ring.oldestFrame(sparing: .milliseconds(300)) == 0)
        write(500, from: 0, to: ring)
        #expect(ring.oldestFrame(sparing: .milliseconds(300)) == 0)
        write(500, from: 500, to: ring)
        #expect(ring.oldestFrame(sparing: .milliseconds(300)) == 400)
        #expect(ring.oldestFrame(sparing: .seconds(2)) == 1000)
        write(300, from: 1000, to: ring)
        #expect(ring.firstIntact == 400)
    }

    @Test func `held frames are never overwritten`() {
        let ring = Ring(format: format, holding: .milliseconds(1000), periodFrames: 100)
        write(1500, from: 0, to: ring)
        let held = ring.hold(from: 1400)
        #expect(held == 1400)
        while ring.writableFrames() > 0 { write(ring.writableFrames(), from: ring.position.count, to: ring) }
        #expect(ring.position == 2400)
        #expect(read(ring, from: 1400) == (1400..<2400).map { Int16($0) })
        ring.release(upTo: 1450)
        #expect(ring.writableFrames() == 50)
        ring.letGo()
        #expect(ring.writableFrames() == 100)
    }

    @Test func `the share that is held grows until its reader frees it`() {
        let ring = Ring(format: format, holding: .milliseconds(1000), periodFrames: 100)
        write(1500, from: 0, to: ring)
        #expect(ring.heldShare == 0)
        _ = ring.hold(from: 1400)
        #expect(ring.heldShare == 0.1)
        write(100, from: 1500, to: ring)
        ring.release(upTo: 1550)
        #expect(ring.heldShare == 0.05)
        ring.letGo()
        #expect(ring.heldShare == 0)
    }

    @Test func `what is gone cannot be held, nor what a write under way may touch`() {
        let ring = Ring(format: format, holding: .milliseconds(1000), periodFrames: 100)
        write(1500, from: 0, to: ring)
        #expect(ring.hold(from: 0) == 700)
        #expect(ring.hold(from: -5) == 700)
    }

    @Test func `a young ring holds from its first frame`() {
        let ring = Ring(format: format, holding: .milliseconds(1000), periodFrames: 100)
        write(300, from: 0, to: ring)
        #expect(ring.hold(from: -50) == 0)
        #expect(ring.hold(from: 290) == 290)
    }

    @Test func `a ring is shortened to the largest size there is`() {
        let huge = StreamFormat(rateHz: 384_000, channels: 32, sampleFormat: .s32)
        let ring = Ring(format: huge, holding: .seconds(30), periodFrames: 38400)
        #expect(ring.byteCount <= Ring.maximumBytes)
        #expect(ring.byteCount > Ring.maximumBytes - huge.bytesPerFrame)
    }

    @Test func `a ring always holds two periods`() {
        let ring = Ring(format: format, holding: .milliseconds(10), periodFrames: 100)
        #expect(ring.capacityFrames == 200)
        #expect(ring.maximumWriteFrames == 100)
    }

    @Test func `losses are counted by kind`() {
        let ring = Ring(format: format, holding: .milliseconds(1000), periodFrames: 100)
        let at = Instant(nanoseconds: 0)
        ring.stamp(Stamp(position: 0, instant: at, kind: .started))
        ring.stamp(Stamp(position: 100, instant: at))
        ring.stamp(Stamp(position: 200, instant: at, kind: .xrun, lost: -1))
        ring.miss(40)
        ring.stamp(Stamp(position: 200, instant: at, kind: .stall, lost: 40))
        ring.miss(2)
        ring.stamp(Stamp(position: 200, instant: at, kind: .stall, lost: 2))
        #expect(ring.xrunCount == 1)
        #expect(ring.missedFrames == 42)
        #expect(ring.stampNumber == 5)
        #expect(ring.stamp(number: 3) == Stamp(position: 200, instant: at, kind: .stall, lost: 40))
        #expect(ring.stamp(number: 5) == nil)
    }

    @Test func `stamps that were overwritten are not there`() {
        let ring = Ring(format: format, holding: .milliseconds(1000), periodFrames: 100)
        for number in Int64(0)..<5000 {
            ring.stamp(Stamp(position: RingPosition(number), instant: Instant(nanoseconds: 0)))
        }
        #expect(ring.stamp(number: 0) == nil)
        #expect(ring.stamp(number: 4999)?.position == 4999)
        #expect(ring.stamp(number: 4100)?.position == 4100)
    }

    @Test func `a ring takes an eighth of the memory at most, and says how long that is`() {
        let stereo = StreamFormat(rateHz: 48000, channels: 2, sampleFormat: .s32)
        #expect(Ring.maximumBytes(ofMemory: 64 << 20) == 8 << 20)
        #expect(Ring.maximumBytes(ofMemory: 8 << 30) == Ring.maximumBytes)
        let ring = Ring(
            format: stereo, holding: .seconds(30), periodFrames: 5760,
            maximumBytes: Ring.maximumBytes(ofMemory: 64 << 20))
        #expect(ring.byteCount == 8 << 20)
        #expect(ring.capacityFrames == 1 << 20)
        #expect(ring.duration == stereo.duration(ofFrames: 1 << 20))
    }

    @Test func `the latest frames are the last ones, across the ring's end`() {
        let format = StreamFormat(rateHz: 10, channels: 1, sampleFormat: .s16)
        let ring = Ring(format: format, holding: .seconds(3), periodFrames: 4)
        #expect(ring.latest(.seconds(2)) == nil)
        for frame in 0..<UInt8(50) {
            let piece = ring.writable(1)
            piece[0] = frame
            piece[1] = 0
            ring.commit(1)
        }
        let expected: [UInt8] = (UInt8(30)..<50).flatMap { [$0, 0] as [UInt8] }
        #expect(ring.latest(.seconds(2)) == expected)
    }
}
