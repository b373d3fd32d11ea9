import Ring
import SeededRandom
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
        #expect(abs(position - truth) <= 1)
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

    @Test func `a time that was given early leads back to its frame with stamps that came later`() throws {
        // The card is 80 ppm fast and delivers each 10 ms. Stamps are up to 1 ms late, and one in ten less than 5 us.
        var random = SeededRandom(seed: 7)
        let line = ring([])
        var given: [(position: RingPosition, raw: Int64)] = []
        for index in 0..<3000 {
            let frames = Int64(index) * 480
            let late = Double.random(in: 0...(Int.random(in: 0..<10, using: &random) == 0 ? 0.005 : 1), using: &random)
            let raw = Double(frames) / 48 / 1.00008 + late
            line.stamp(
                Stamp(
                    position: RingPosition(frames), instant: milliseconds(1000 + raw),
                    rawNanoseconds: Int64((5000 + raw) * 1e6), kind: index == 0 ? .started : .running))
            if index >= 400, index % 70 == 0 {
                let position = RingPosition(frames - 100)
                let raw = try #require(line.rawNanoseconds(ofFrame: position))
                let truth = 5e9 + Double(position.count) * 1e6 / 48 / 1.00008
                #expect(abs(Double(raw) - truth) < 10_000, "\(position): \(Double(raw) - truth) ns from the truth")
                given.append((position, raw))
            }
            // The program needs 3 s to find something.
            guard let (position, raw) = given.first, position.count + 144_000 <= frames else { continue }
            given.removeFirst()
            let instant = try #require(line.instant(ofRaw: raw))
            let found = try #require(line.framePosition(at: instant))
            #expect(abs(found - position) <= 1, "\(position): \(found)")
        }
    }

    @Test(arguments: [1, 2, 3, 4])
    func `a given time stays, and frames near it keep their distance`(seed: UInt64) throws {
        // For 5 s all stamps are late by at least 0.3 ms; the first one on time shows a line that is that much earlier.
        var random = SeededRandom(seed: seed)
        let line = Ring(format: format, holding: .seconds(30), periodFrames: 480)
        var given: [(position: RingPosition, raw: Int64)] = []
        for index in 0..<2500 {
            let frames = Int64(index) * 480
            let late = (index % 900 < 500 ? 0.3 : 0) + Double.random(in: 0...0.7, using: &random)
            let raw = Double(frames) / 48 * 0.99995 + late
            line.stamp(
                Stamp(
                    position: RingPosition(frames), instant: milliseconds(1000 + raw),
                    rawNanoseconds: Int64((5000 + raw) * 1e6), kind: index == 0 ? .started : .running))
            let position = RingPosition(max(0, frames - Int64.random(in: 0...960, using: &random)))
            given.append((position, try #require(line.rawNanoseconds(ofFrame: position))))
        }
        for (position, raw) in given {
            #expect(line.rawNanoseconds(ofFrame: position) == raw)
            let offset = Int64.random(in: 0...480, using: &random)
            let instant = try #require(line.instant(ofRaw: raw + format.duration(ofFrames: offset).nanoseconds))
            let found = try #require(line.framePosition(at: instant))
            #expect(abs(found - position - offset) <= 1, "\(position) + \(offset): \(found)")
        }
        #expect(zip(given, given.dropFirst()).allSatisfy { ($0.position < $1.position) == ($0.raw < $1.raw) })
    }

    @Test func `times that were given before a loss of frames lead back to the frames before it`() throws {
        let line = ring([
            Stamp(position: 0, instant: milliseconds(1000), kind: .started),
            Stamp(position: 4800, instant: milliseconds(1100)),
        ])
        let raw = try #require(line.rawNanoseconds(ofFrame: 4801))
        line.stamp(Stamp(position: 4800, instant: milliseconds(1200), kind: .xrun, lost: -1))
        line.stamp(Stamp(position: 9600, instant: milliseconds(1300)))
        #expect(line.framePosition(at: Instant(nanoseconds: raw)) == 4800)
        let behind = try #require(line.rawNanoseconds(ofFrame: 7200))
        #expect(behind == milliseconds(1250).nanoseconds)
        #expect(line.framePosition(at: milliseconds(1250)) == 7200)
        #expect(line.framePosition(at: milliseconds(1150)) == 4800)
    }

    @Test func `frames that are asked for after later ones get earlier times`() throws {
        // The second and the third stamp are late by 100 ms. Only the third one is near the last, which shows that.
        let line = ring([
            Stamp(position: 0, instant: milliseconds(1000), kind: .started),
            Stamp(position: 48_000, instant: milliseconds(2100)),
            Stamp(position: 52_800, instant: milliseconds(2200)),
            Stamp(position: 80_640, instant: milliseconds(2680)),
        ])
        let later = try #require(line.rawNanoseconds(ofFrame: 52_800))
        #expect(later == milliseconds(2100).nanoseconds)
        let earlier = try #require(line.rawNanoseconds(ofFrame: 50_000))
        #expect(earlier < later)
        #expect(line.framePosition(at: Instant(nanoseconds: earlier)) == 50_000)
        #expect(line.framePosition(at: Instant(nanoseconds: later)) == 52_800)
    }

    @Test func `a program that asks for the past gets times too, and the oldest are forgotten`() throws {
        let line = ring([])
        for index in 0..<4000 {
            line.stamp(
                Stamp(
                    position: RingPosition(Int64(index) * 480), instant: milliseconds(Double(index) * 10),
                    kind: index == 0 ? .started : .running))
        }
        for index in stride(from: 3990, to: 3000, by: -1) {
            let position = RingPosition(Int64(index) * 480 + 7)
            let raw = try #require(line.rawNanoseconds(ofFrame: position))
            #expect(line.framePosition(at: Instant(nanoseconds: raw)) == position)
        }
    }
}
