import Glibc

/// A synthetic voice: glottal pulses are filtered by the resonances of a mouth, and sing vowels with pauses between.
///
/// A pure generator: the same rate always gives the same samples. It peaks at about −12 dBFS. Its pauses contain noise
/// at about −75 dBFS, like a quiet room.
public struct Voice: Sendable {
    private let rateHz: Double
    /// The number of resonances below 0.45 times the rate.
    private let resonances: Int
    private let controlFrames: Int64
    private let loudnessStep: Double

    private var frame: Int64 = 0
    private var glottis = 0.0
    private var pitchHz = Song.syllables[0].pitchHz
    private var formantsHz = Song.syllables[0].vowel.formantsHz
    private var loudness = 0.0
    private var wantedLoudness = 0.0
    private var resonators: InlineArray<4, Resonator> = .init(repeating: Resonator())
    private var noise: UInt32 = 0x2545_f491

    private static let bandwidthsHz: SIMD4<Double> = [70, 90, 150, 220]
    /// Brings the loudest vowel, a, to −12 dBFS.
    private static let level = 0.077
    private static let noiseLevel = 0.000_18

    public init(rateHz: Int) {
        self.rateHz = Double(rateHz)
        controlFrames = max(1, Int64(rateHz / 1000))
        loudnessStep = 1 - exp(-1 / (0.015 * Double(rateHz)))
        resonances = (0..<4).filter { Song.Vowel.i.formantsHz[$0] < 0.45 * Double(rateHz) }.count
    }

    /// The next sample; full scale is ±1.
    public mutating func next() -> Double {
        if frame % controlFrames == 0 { steer() }
        frame += 1
        loudness += (wantedLoudness - loudness) * loudnessStep
        let breath = nextNoise()
        glottis += pitchHz / rateHz
        if glottis >= 1 { glottis -= 1 }
        var sample = (Self.flow(glottis) + 0.02 * breath) * loudness
        for index in 0..<resonances { sample = resonators[index].pass(sample) }
        return sample * Self.level + breath * Self.noiseLevel
    }

    /// Moves pitch, formants and loudness toward the song's present values, in about a thousand steps a second.
    private mutating func steer() {
        let seconds = Double(frame) / rateHz
        let (syllable, sounds) = Song.moment(at: seconds)
        wantedLoudness = sounds ? 1 : 0
        let step = 1 - exp(-Double(controlFrames) / (0.04 * rateHz))
        let vibrato = 1 + 0.012 * sin(2 * .pi * 5.2 * seconds)
        pitchHz += (syllable.pitchHz * vibrato - pitchHz) * step
        formantsHz += (syllable.vowel.formantsHz - formantsHz) * step
        for index in 0..<resonances {
            resonators[index].tune(hertz: formantsHz[index], bandwidthHz: Self.bandwidthsHz[index], rateHz: rateHz)
        }
    }

    /// The derivative of the air flow through the glottis at a place of its period, from 0 to 1: it opens slowly,
    /// closes fast and rests closed (A. E. Rosenberg, JASA 49, 1971; the derivative of pulse B, which the mouth
    /// radiates).
    static func flow(_ place: Double) -> Double {
        let (opening, closing) = (0.40, 0.16)
        if place < opening { return 0.5 * sin(.pi * place / opening) * closing / opening }
        let left = place - opening
        return left < closing ? -sin(.pi / 2 * left / closing) : 0
    }

    /// White noise, ±1 (xorshift32; G. Marsaglia, 2003).
    private mutating func nextNoise() -> Double {
        noise ^= noise << 13
        noise ^= noise >> 17
        noise ^= noise << 5
        return Double(Int32(bitPattern: noise)) / 2_147_483_648
    }
}
