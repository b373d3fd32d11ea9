import Ring
import SeededRandom
import Takes
import Testing

@Suite struct RateMeasureTests {
    /// A ring of a card that states 48 kHz, with a stamp every 0.12 s.
    /// - Parameters:
    ///   - rateHz: the card's true rate.
    ///   - late: the delay of a stamp in milliseconds, by the seconds since the start.
    private func ring(
        _ rateHz: Double, seconds: Double, kind: Stamp.Kind = .started, late: (Double) -> Double = { _ in 0 },
        into ring: Ring? = nil
    ) -> Ring {
        let ring =
            ring
            ?? Ring(
                format: StreamFormat(rateHz: 48000, channels: 1, sampleFormat: .s16), holding: .seconds(30),
                periodFrames: 5760)
        let (base, began) = (ring.lastStamp?.position ?? .start, ring.lastStamp?.instant ?? Instant(nanoseconds: 7))
        ring.stamp(Stamp(position: base, instant: began, kind: kind))
        for number in 1...Int(seconds / 0.12) {
            let time = Double(number) * 0.12
            ring.stamp(
                Stamp(
                    position: base + Int64(time * rateHz),
                    instant: began + .nanoseconds(Int64((time + late(time) / 1000) * 1e9))))
        }
        return ring
    }

    @Test(arguments: [32000.0, 44100, 47940, 48060, 72000]) func `a card that runs at another rate is measured`(
        rateHz: Double
    ) throws {
        let measure = try #require(ring(rateHz, seconds: 11).measuredRate)
        #expect(measure.isWrong)
        #expect(abs(measure.offsetPPM - (rateHz / 48000 - 1) * 1e6) < 20)
        #expect(measure.statedHz == 48000 && measure.trueHz == Int(rateHz))
    }

    @Test(arguments: [48000.0, 47990, 48010, 47953, 48047]) func `a crystal that is off by less is right`(
        rateHz: Double
    ) throws {
        let measure = try #require(ring(rateHz, seconds: 60).measuredRate)
        #expect(!measure.isWrong && measure.isSure)
    }

    @Test func `less than ten seconds, and none at all, show nothing`() {
        #expect(ring(32000, seconds: 9.9).measuredRate == nil)
        #expect(ring(32000, seconds: 10.1).measuredRate?.isWrong == true)
        let format = StreamFormat(rateHz: 48000, channels: 1, sampleFormat: .s16)
        let empty = Ring(format: format, holding: .seconds(1), periodFrames: 5760)
        #expect(empty.measuredRate == nil)
    }

    @Test(arguments: [Stamp.Kind.started, .xrun, .stall]) func `what came before a start or a loss does not count`(
        _ kind: Stamp.Kind
    ) throws {
        let again = ring(48000, seconds: 9, kind: kind, into: ring(32000, seconds: 20))
        #expect(again.measuredRate == nil)
        #expect(ring(48000, seconds: 12, into: again).measuredRate?.isWrong == false)
    }

    @Test func `stamps that are late at random make no rate wrong, and do not hide one that is`() throws {
        var random = SeededRandom(seed: 3)
        for most in [1.0, 10, 80, 300] {
            for _ in 0..<20 {
                let right = ring(48000, seconds: 70) { _ in Double.random(in: 0...most, using: &random) }
                #expect(right.measuredRate?.isWrong == false, "\(most) ms")
                let wrong = ring(32000, seconds: 70) { _ in Double.random(in: 0...most, using: &random) }
                #expect(wrong.measuredRate?.isWrong == true, "\(most) ms")
            }
        }
    }

    @Test func `a while of late stamps, and a late start, make no rate wrong`() throws {
        for at in stride(from: 1.0, to: 12, by: 0.5) {
            for length in [0.5, 2.0] {
                let spell = ring(48000, seconds: 12) { (at...(at + length)).contains($0) ? 150 : 0 }
                #expect(spell.measuredRate?.isWrong == false, "from \(at) s, for \(length) s")
            }
        }
        let start = ring(48000, seconds: 12) { $0 < 1 ? -20 : 0 }
        #expect(start.measuredRate?.isWrong == false)
    }

    @Test func `frames that are lost at once make no rate wrong`() throws {
        for at in stride(from: 0.5, to: 12, by: 0.25) {
            for lost in [6.0, 12, 40, 200] {
                for seconds in [12.0, 33, 63] {
                    let loss = ring(48000, seconds: seconds) { $0 > seconds - 12 + at ? lost : 0 }
                    #expect(
                        loss.measuredRate?.isWrong == false, "\(lost) ms, \(at - 12) s before the end of \(seconds) s")
                }
            }
        }
    }

    @Test func `the sentence has both rates`() {
        let measure = RateMeasure(statedHz: 48000, offsetPPM: -333_333.3, errorPPM: 10)
        #expect(
            measure.complaint
                == "states 48000 Hz and runs at 32000 Hz: takes have the wrong length and pitch: set another rate_hz, or "
                + "use another card")
        #expect(RateMeasure.isComplaint("signal: card:Mic: \(measure.complaint)"))
        #expect(!RateMeasure.isComplaint("signal: card:Mic: clipped on channel 2: turn the gain down"))
        #expect(RateMeasure(statedHz: 250_000, offsetPPM: 1610, errorPPM: 1).trueHz == 250_400)
    }
}
