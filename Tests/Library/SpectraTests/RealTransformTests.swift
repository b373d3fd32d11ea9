import SeededRandom
import Testing

@testable import Spectra

@Suite struct RealTransformTests {
    private static let lengths = [256, 512, 1024, 2048, 4096, 8192]

    private func bands(_ transform: RealTransform, _ samples: [Float], at starts: SIMD4<Int>) -> [SIMD4<Float>] {
        var bands = [SIMD4<Float>](repeating: SIMD4(), count: transform.length / 2 + 1)
        transform.transform(samples.span, at: starts)
        transform.pool(into: &bands, at: 0, shift: 0)
        return bands
    }

    @Test(arguments: lengths)
    func `each bin of four windows has the power that the definition says`(_ length: Int) {
        var random = SeededRandom(seed: UInt64(length))
        let samples = noise(3 * length, level: 1, seed: UInt64(length))
        let starts = SIMD4(0, length / 3, length, 2 * length)
        let found = bands(RealTransform(length: length), samples.map { Float($0) / 32_768 }, at: starts)
        let some = (0..<full(100, usually: 8)).map { _ in random.below(length / 2) }
        for bin in [0, 1, length / 4, length / 2 - 1, length / 2] + some {
            for lane in 0..<4 {
                let wanted = Definition.power(numbers(samples), from: starts[lane], window: length, bin: bin)
                #expect(abs(Double(found[bin][lane]) - wanted) < 1e-6 * wanted + 1e-9, "bin \(bin), window \(lane)")
            }
        }
    }

    /// NumPy 2.4: `abs(rfft(x * (0.5 - 0.5 * cos(2 * pi * arange(n) / n))) * 4 / n) ** 2`.
    private static let numpy: [(Int, [(bin: Int, power: Double)])] = [
        (
            1024,
            [
                (0, 0.001442515), (1, 0.008184896), (2, 0.008152564), (3, 0.0009505515), (100, 0.0009199823),
                (256, 0.00114808), (257, 0.0004423584), (511, 0.002364408), (512, 0.003061131),
            ]
        ),
        (
            2048,
            [
                (0, 5.551087e-05), (1, 0.0002995167), (2, 0.00116275), (3, 0.002621219), (100, 0.004071123),
                (512, 0.000351445), (513, 0.0003693066), (1023, 0.002937837), (1024, 0.006888358),
            ]
        ),
    ]

    @Test(arguments: numpy) func `the powers are NumPy's`(length: Int, powers: [(bin: Int, power: Double)]) {
        let samples = congruentialNoise(length).map { Float($0) / 32_768 }
        let found = bands(RealTransform(length: length), samples, at: SIMD4())
        for (bin, power) in powers {
            for lane in 0..<4 { #expect(abs(Double(found[bin][lane]) - power) < 1e-5 * power + 1e-9, "bin \(bin)") }
        }
    }

    @Test(arguments: lengths) func `a sine of full scale has the power 1, and nothing is elsewhere`(_ length: Int) {
        let bin = length / 8 + 1
        let samples = (0..<length).map { index in
            Float(Definition.sine(Double(bin * index % length) / Double(length)))
        }
        let found = bands(RealTransform(length: length), samples, at: SIMD4()).map { Double($0[0]) }
        #expect(abs(found[bin] - 1) < 1e-5)
        #expect(abs(found[bin - 1] - 0.25) < 1e-5 && abs(found[bin + 1] - 0.25) < 1e-5)
        // The rounding errors of single precision.
        for other in found.indices where abs(other - bin) > 1 { #expect(found[other] < 1e-12, "bin \(other)") }
    }

    @Test func `bands have the greatest power of their bins and of what they had`() {
        let transform = RealTransform(length: 1024)
        let samples = noise(4096, level: 0.5, seed: 2).map { Float($0) / 32_768 }
        let starts = SIMD4(0, 512, 1024, 3072)
        let bins = bands(transform, samples, at: starts)
        var pooled = [SIMD4<Float>](repeating: SIMD4(repeating: 1e-3), count: 300)
        transform.pool(into: &pooled, at: 7, shift: 2)
        for band in 0...128 {
            for lane in 0..<4 {
                let wanted = bins[(4 * band)..<min(513, 4 * band + 4)].map { $0[lane] }.max() ?? 0
                #expect(pooled[7 + band][lane] == max(1e-3, wanted))
            }
        }
        #expect((pooled[..<7] + pooled[136...]).allSatisfy { $0 == SIMD4(repeating: 1e-3) })
    }
}
