import CFloat

/// One second-order section of a digital filter with a0 = 1: `H(z) = (b0 + b1·z⁻¹ + b2·z⁻²) / (1 + a1·z⁻¹ + a2·z⁻²)`.
public struct Section: Hashable, Sendable {
    public var b0, b1, b2: Double
    /// The denominator without its leading 1.
    public var a1, a2: Double

    public init(b0: Double, b1: Double, b2: Double, a1: Double, a2: Double) {
        self.b0 = b0
        self.b1 = b1
        self.b2 = b2
        self.a1 = a1
        self.a2 = a2
    }
}

/// A maximally flat (Butterworth) filter of even order. The bilinear transform brings it to discrete time with the
/// cutoff prewarped, so that the response is down by exactly 3.01 dB there (S. Butterworth, 1930; for the transform:
/// Oppenheim and Schafer, Discrete-Time Signal Processing).
///
/// With `K = tan(π · cutoff / rate)` each pair of conjugate poles is one section of quality Q, `1/Q = 2·sin((2k + 1)·π
/// / 2N)`.
public struct Butterworth: Hashable, Sendable {
    public var kind: FilterKind
    /// 2, 4, 6 or 8.
    public var order: Int
    /// The frequency, in hertz, where the response is down by 3.01 dB.
    public var cutoffHz: Double
    public var rateHz: Int

    /// - Parameter cutoffHz: more than 0 and less than half the rate.
    public init(_ kind: FilterKind, order: Int, cutoffHz: Double, rateHz: Int) {
        self.kind = kind
        self.order = order
        self.cutoffHz = cutoffHz
        self.rateHz = rateHz
    }

    /// The sections, lowest quality first, which keeps the signal between them small.
    public var sections: [Section] {
        stages.map { stage in
            let b1 = stage.c1 + stage.a1
            return Section(b0: stage.gain, b1: stage.gain * b1, b2: stage.gain, a1: stage.a1, a2: stage.a2)
        }
    }

    /// The sections in the form that the kernel runs.
    var stages: [Stage] {
        let k = fieldfare_tan(.pi * cutoffHz / Double(rateHz))
        return (0..<order / 2).reversed().map { pair in
            let damping = 2 * fieldfare_sin(Double(2 * pair + 1) * .pi / Double(2 * order))
            let scale = 1 / (1 + k * damping + k * k)
            let a1 = 2 * (k * k - 1) * scale
            let a2 = (1 - k * damping + k * k) * scale
            // c1 = ±2 − a1 and c2 = 1 − a2, simplified in advance so that no digits are lost where they nearly cancel.
            let c2 = 2 * k * damping * scale
            switch kind {
            case .lowPass:
                return Stage(a1: a1, a2: a2, c1: 2 * (2 + k * damping) * scale, c2: c2, gain: k * k * scale)
            case .highPass:
                return Stage(a1: a1, a2: a2, c1: -2 * (2 * k + damping) * k * scale, c2: c2, gain: scale)
            }
        }
    }

    /// The response at a frequency, in dB, by the closed form of the analogue prototype.
    public func gainDB(atHz frequencyHz: Double) -> Double {
        let ratio = fieldfare_tan(.pi * frequencyHz / Double(rateHz)) / fieldfare_tan(.pi * cutoffHz / Double(rateHz))
        let towardStopBand = kind == .lowPass ? ratio : 1 / ratio
        var power = 1.0
        for _ in 0..<2 * order { power *= towardStopBand }
        return -10 * fieldfare_log10(1 + power)
    }
}
