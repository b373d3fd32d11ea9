import Glibc

/// A resonance of the mouth: a two-pole filter that does not change frequencies far below it (D. H. Klatt, "Software
/// for a cascade/parallel formant synthesizer", JASA 67, 1980, equation 2).
struct Resonator {
    private var gain = 1.0
    private var first = 0.0
    private var second = 0.0
    private var last = 0.0
    private var beforeLast = 0.0

    /// Changes the frequency of the resonance without interrupting the sound.
    mutating func tune(hertz: Double, bandwidthHz: Double, rateHz: Double) {
        let radius = exp(-.pi * bandwidthHz / rateHz)
        second = -radius * radius
        first = 2 * radius * cos(2 * .pi * hertz / rateHz)
        gain = 1 - first - second
    }

    /// Filters one sample.
    mutating func pass(_ sample: Double) -> Double {
        let out = gain * sample + first * last + second * beforeLast
        beforeLast = last
        last = out
        return out
    }
}
