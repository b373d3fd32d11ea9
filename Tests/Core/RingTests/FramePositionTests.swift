import Ring
import Takes
import Testing

private let format = StreamFormat(rateHz: 48000, channels: 1, sampleFormat: .s16)

private func milliseconds(_ count: Double) -> Instant {
    Instant(nanoseconds: Int64(count * 1e6))
}

private func ring(_ stamps: [Stamp]) -> Ring {
    let ring = Ring(format: format, holding: .seconds(1), periodFrames: 4800)
    for stamp in stamps { ring.stamp(stamp) }
    return ring
}

@Suite struct FramePositionTests {
    @Test func `without a stamp there is no position`() {
        #expect(ring([]).framePosition(at: milliseconds(5)) == nil)
    }

    @Test func `between two stamps the rate gives the frame`() {
        let ring = ring([
            Stamp(position: 0, instant: milliseconds(1000), kind: .started),
            Stamp(position: 4800, instant: milliseconds(1100)),
            Stamp(position: 9600, instant: milliseconds(1200)),
        ])
        #expect(ring.framePosition(at: milliseconds(1150)) == 7200)
        #expect(ring.framePosition(at: milliseconds(1000)) == 0)
        #expect(ring.framePosition(at: milliseconds(1250)) == 12000)
        #expect(ring.framePosition(at: milliseconds(990)) == -480)
    }

    @Test func `of stamps that are late by chance the truest counts`() {
        let ring = ring([
            Stamp(position: 0, instant: milliseconds(1003), kind: .started),
            Stamp(position: 4800, instant: milliseconds(1100)),
            Stamp(position: 9600, instant: milliseconds(1204)),
            Stamp(position: 14400, instant: milliseconds(1302)),
        ])
        #expect(ring.framePosition(at: milliseconds(1250)) == 12000)
        #expect(ring.framePosition(at: milliseconds(1050)) == 2400)
    }

    @Test func `stamps beyond a loss of frames do not count`() {
        // 100 ms of sound are missing between the second and the third stamp.
        let ring = ring([
            Stamp(position: 0, instant: milliseconds(1000), kind: .started),
            Stamp(position: 4800, instant: milliseconds(1100)),
            Stamp(position: 4800, instant: milliseconds(1200), kind: .xrun, lost: -1),
            Stamp(position: 9600, instant: milliseconds(1300)),
        ])
        #expect(ring.framePosition(at: milliseconds(1050)) == 2400)
        #expect(ring.framePosition(at: milliseconds(1250)) == 7200)
    }

    @Test func `an instant within a loss is the frame after it`() {
        let ring = ring([
            Stamp(position: 0, instant: milliseconds(1000), kind: .started),
            Stamp(position: 4800, instant: milliseconds(1100)),
            Stamp(position: 4800, instant: milliseconds(1200), kind: .xrun, lost: -1),
            Stamp(position: 9600, instant: milliseconds(1300)),
        ])
        #expect(ring.framePosition(at: milliseconds(1150)) == 4800)
    }

    @Test func `a slow crystal half a minute ago is still found by the stamps of its time`() {
        // The crystal is 200 ppm slow: 4799.04 frames arrive in 100 ms.
        let stamps = (0...600).map { (index: Int) -> Stamp in
            let frames = Int64(Double(index) * 4799.04)
            return Stamp(
                position: RingPosition(frames), instant: milliseconds(Double(index) * 100),
                kind: index == 0 ? .started : .running)
        }
        let position = ring(stamps).framePosition(at: milliseconds(30_050))!.count
        let truth = Int64(300.5 * 4799.04)
        #expect(abs(position - truth) <= 10)
    }

    @Test func `the raw clock of a frame leads back to that frame`() throws {
        // The raw clock has another zero, and stamps are late at random.
        let late = [0.0, 0.4, 0, 1.5, 0.2, 0]
        let line = ring(
            late.enumerated().map { index, late in
                Stamp(
                    position: RingPosition(Int64(index) * 4800),
                    instant: milliseconds(1000 + 100 * Double(index) + late),
                    rawNanoseconds: Int64((5000 + 100 * Double(index) + late) * 1e6),
                    kind: index == 0 ? .started : .running)
            })
        for position in [0, 1, 4799, 4800, 9601, 14_400, 20_000, 24_000, 30_000].map({ RingPosition($0) }) {
            let raw = try #require(line.rawNanoseconds(ofFrame: position))
            #expect(raw == 5_000_000_000 + format.duration(ofFrames: position.count).nanoseconds)
            let instant = try #require(line.instant(ofRaw: raw))
            let found = try #require(line.framePosition(at: instant))
            #expect(abs(found - position) <= 1, "\(position): \(found)")
        }
        let empty = ring([])
        #expect(empty.rawNanoseconds(ofFrame: 5) == nil && empty.instant(ofRaw: 5) == nil)
    }
}
