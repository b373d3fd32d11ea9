import Glibc
import Testing

@testable import Simulation

private func sing(_ seconds: Double, rateHz: Int) -> [Double] {
    var voice = Voice(rateHz: rateHz)
    return (0..<Int(seconds * Double(rateHz))).map { _ in voice.next() }
}

private func peakDBFS(_ samples: some Sequence<Double>) -> Double {
    20 * log10(samples.reduce(0) { max($0, abs($1)) })
}

/// The level of one frequency in dB (Goertzel's algorithm).
private func level(_ samples: ArraySlice<Double>, at hertz: Double, rateHz: Int) -> Double {
    var (real, imaginary) = (0.0, 0.0)
    for (index, sample) in samples.enumerated() {
        // A Hann window, against leakage from neighbouring frequencies.
        let window = 1 - cos(2 * .pi * Double(index) / Double(samples.count))
        let angle = 2 * .pi * hertz * Double(index) / Double(rateHz)
        real += sample * window * cos(angle)
        imaginary += sample * window * sin(angle)
    }
    return 10 * log10(real * real + imaginary * imaginary)
}

@Suite struct VoiceTests {
    @Test func `the same rate gives the same samples`() {
        #expect(sing(1, rateHz: 16000) == sing(1, rateHz: 16000))
    }

    @Test(arguments: [8000, 44100, 48000, 192_000])
    func `it peaks at about −12 dBFS at any rate`(rateHz: Int) {
        let peak = peakDBFS(sing(Song.seconds, rateHz: rateHz))
        #expect(peak > -13.5 && peak < -10.5)
    }

    @Test func `a pause is quiet, and not dead`() {
        let samples = sing(Song.seconds, rateHz: 48000)
        let pause = peakDBFS(samples.suffix(48000 / 2))
        #expect(pause > -80 && pause < -70)
    }

    @Test func `it sings the melody's notes`() {
        // The third syllable: an a on 220 Hz, from 0.7 to 1.3 s.
        let samples = sing(1.3, rateHz: 48000)[Int(0.9 * 48000)...]
        let fundamental = level(samples, at: 220, rateHz: 48000)
        #expect(fundamental > level(samples, at: 165, rateHz: 48000) + 20)
        #expect(fundamental > level(samples, at: 275, rateHz: 48000) + 20)
    }

    @Test func `the vowels a and i differ`() {
        let samples = sing(1.3, rateHz: 48000)
        let (i, a) = (samples[Int(0.5 * 48000)..<Int(0.62 * 48000)], samples[Int(0.9 * 48000)...])
        // A harmonic near i's second formant, compared with one near a's.
        let brightness = level(i, at: 2352, rateHz: 48000) - level(i, at: 980, rateHz: 48000)
        #expect(brightness > level(a, at: 2420, rateHz: 48000) - level(a, at: 1100, rateHz: 48000) + 15)
    }
}
