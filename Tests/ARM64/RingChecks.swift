import Ring
import Takes

private let format = StreamFormat(rateHz: 1000, channels: 1, sampleFormat: .s16)

/// The ring, as arm64 code.
func checkRing(_ checks: inout Checks) {
    checks.check("frames come out of the ring as they went in, around its end too", passesFramesOn())
    checks.check("held frames are not overwritten, and released ones are", holdsFrames())
    checks.check("stamps are kept, counted, and lead to the frame of an instant", keepsStamps())
}

/// Writes frames that count on from `first`, as many as there is room for.
private func push(_ ring: Ring, _ count: Int64, from first: Int64) -> Int64 {
    var written: Int64 = 0
    while written < count {
        let room = min(count - written, ring.writableFrames())
        guard room > 0 else { break }
        let piece = unsafe ring.writable(room)
        let frames = Int64(piece.count / format.bytesPerFrame)
        for frame in 0..<frames {
            unsafe piece.storeBytes(
                of: Int16(truncatingIfNeeded: first + written + frame), toByteOffset: 2 * Int(frame), as: Int16.self)
        }
        ring.commit(frames)
        written += frames
    }
    return written
}

/// Reads `count` frames from `first` on.
private func pull(_ ring: Ring, _ count: Int64, from first: Int64) -> [Int16] {
    var samples: [Int16] = []
    while Int64(samples.count) < count {
        let before = samples.count
        unsafe ring.withFrames(from: first + Int64(samples.count), atMost: count - Int64(samples.count)) { bytes in
            for offset in stride(from: 0, to: bytes.count, by: 2) {
                samples.append(unsafe bytes.load(fromByteOffset: offset, as: Int16.self))
            }
        }
        guard samples.count > before else { break }
    }
    return samples
}

private func counts(_ samples: [Int16], from first: Int64) -> Bool {
    for index in samples.indices where samples[index] != Int16(truncatingIfNeeded: first + Int64(index)) {
        return false
    }
    return true
}

private func passesFramesOn() -> Bool {
    let ring = Ring(format: format, holding: .seconds(1), periodFrames: 100)
    guard ring.capacityFrames == 1000 else { return false }
    var position: Int64 = 0
    // 77 divides neither the ring nor the period, so pieces end everywhere.
    for _ in 0..<100 {
        guard push(ring, 77, from: position) == 77 else { return false }
        let samples = pull(ring, 77, from: position)
        guard samples.count == 77, counts(samples, from: position) else { return false }
        position += 77
    }
    return ring.position == position && position > 7 * ring.capacityFrames
}

private func holdsFrames() -> Bool {
    let ring = Ring(format: format, holding: .seconds(1), periodFrames: 100)
    _ = push(ring, 2500, from: 0)
    let first = ring.hold(from: 2000)
    guard first == 2000 else { return false }
    // From 2000 on 1000 frames fit; 500 are there.
    guard push(ring, 800, from: 2500) == 500, ring.writableFrames() == 0 else { return false }
    let held = pull(ring, 1000, from: 2000)
    guard held.count == 1000, counts(held, from: 2000) else { return false }
    ring.release(upTo: 2300)
    guard push(ring, 800, from: 3000) == 300, ring.writableFrames() == 0 else { return false }
    let later = pull(ring, 1000, from: 2300)
    guard later.count == 1000, counts(later, from: 2300) else { return false }
    ring.letGo()
    guard ring.writableFrames() == ring.maximumWriteFrames else { return false }
    // What is asked for may be gone already.
    return ring.hold(from: 0) > 2300
}

private func keepsStamps() -> Bool {
    let ring = Ring(format: format, holding: .seconds(1), periodFrames: 100)
    ring.stamp(Stamp(position: 0, instant: Instant(nanoseconds: 1_000_000_000), kind: .started))
    for period in 1...5 {
        _ = push(ring, 100, from: 0)
        let instant = Instant(nanoseconds: 1_000_000_000) + .milliseconds(100 * period)
        ring.stamp(Stamp(position: Int64(100 * period), instant: instant))
    }
    let heard = ring.framePosition(at: Instant(nanoseconds: 1_250_000_000))
    guard heard == 250, ring.stampNumber == 6, ring.stamp(number: 5)?.position == 500, ring.stamp(number: 6) == nil
    else { return false }
    ring.stamp(Stamp(position: 500, instant: Instant(nanoseconds: 2_000_000_000), kind: .xrun, lost: -1))
    ring.stamp(Stamp(position: 500, instant: Instant(nanoseconds: 2_000_000_000), kind: .stall, lost: 30))
    ring.miss(30)
    return ring.xrunCount == 1 && ring.missedFrames == 30
}
