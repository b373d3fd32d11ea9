import Glibc
import SeededRandom

/// Spectra as they are defined, in double precision, without a fast transform.
enum Definition {
    /// The power of a bin of a Hann window. Outside the samples is silence.
    static func power(_ samples: [Double], from start: Int, window: Int, bin: Int) -> Double {
        var (real, imaginary) = (0.0, 0.0)
        for index in max(0, -start)..<max(0, -start, min(window, samples.count - start)) {
            let hann = 0.5 - 0.5 * cos(2 * Double.pi * Double(index) / Double(window))
            let angle = 2 * Double.pi * Double(index * bin % window) / Double(window)
            let sample = samples[start + index] * hann
            real += sample * cos(angle)
            imaginary -= sample * sin(angle)
        }
        let scale = 4 / Double(window)
        return scale * scale * (real * real + imaginary * imaginary)
    }

    /// A sine by its turns.
    static func sine(_ turns: Double) -> Double { sin(2 * Double.pi * turns) }

    static func power(ofDecibels decibels: Double) -> Double { pow(10, decibels / 10) }

    static func decibels(_ power: Double) -> Double { 10 * log10(power) }

    /// The value of a power, not rounded.
    static func value(_ power: Double) -> Double { min(255, max(0, 200 + decibels(max(power, 1e-30)))) }
}

/// The numbers of a linear congruential generator, the upper 16 bits of each. NumPy's reference values were computed
/// from the same ones.
func congruentialNoise(_ count: Int) -> [Int16] {
    var state: UInt32 = 1
    return (0..<count).map { _ in
        state = state &* 1_664_525 &+ 1_013_904_223
        return Int16(truncatingIfNeeded: state >> 16)
    }
}

/// The bytes of samples in the order of the file.
func bytes(_ samples: [Int16]) -> [UInt8] {
    samples.flatMap { [UInt8(truncatingIfNeeded: $0), UInt8(truncatingIfNeeded: $0 >> 8)] }
}

/// Noise between −1 and 1, times a level.
func noise(_ count: Int, level: Double, seed: UInt64) -> [Int16] {
    var random = SeededRandom(seed: seed)
    return (0..<count).map { _ in
        Int16(Double(Int64(bitPattern: random.next()) >> 32) / 2_147_483_648 * level * 32_767)
    }
}

func numbers(_ samples: [Int16]) -> [Double] { samples.map { Double($0) / 32_768 } }
