import Takes
import Testing

@testable import Playback

@Suite struct StretchLengthsTests {
    private static let rates = [8000, 11025, 16000, 44100, 48000, 192_000]

    @Test(arguments: rates, [0.05, 0.1, 0.25, 0.5, 0.8, 1, 1.25, 1.5, 2])
    func `at every pitch, what is off is less than 10 ms of the take, and the seek window holds the lowest voices`(
        rateHz: Int, speed: Double
    ) {
        for cents in stride(from: -2400, through: 2400, by: 100) {
            let tuning = Tuning(pitchCents: cents, speed: speed)
            let lengths = StretchLengths(rateHz: rateHz, tempo: tuning.tempo, transposed: tuning.resampling)
            let uneven = abs(1 - tuning.tempo) * Double(lengths.step - lengths.overlap)
            let takeRateHz = Double(rateHz) / tuning.resampling
            #expect((Double(lengths.seek) + uneven) / 2 < 0.010 * takeRateHz)
            #expect(Double(lengths.seek) > 0.0155 * min(Double(rateHz), takeRateHz))
            #expect(lengths.overlap % 8 == 0)
            #expect((lengths.overlap...2 * lengths.overlap).contains(lengths.step))
        }
    }
}
