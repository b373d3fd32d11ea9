import Glibc
import Takes

/// The gain of the synthetic voice: what an imaginary mixer allows, set by one thread while another one plays.
final class VoiceGain: Sendable {
    /// What it can be set to.
    static let range = GainRange(min: 0, max: 30, step: 0.5)

    private let decibels = Locked(0.0)

    /// The gain in dB.
    var gainDB: Double { decibels.withLock { $0 } }

    /// Sets the step that is nearest to a gain.
    func set(nearest gainDB: Double) {
        let step = Self.range.step ?? 1
        let inRange = min(max(gainDB, Self.range.min), Self.range.max)
        decibels.withLock { $0 = (inRange / step).rounded() * step }
    }

    /// The factor of the samples.
    var factor: Double { pow(10, gainDB / 20) }
}

/// Approaches the factor that is wanted so smoothly that nothing clicks.
struct GainRamp {
    private var factor: Double
    private let step: Double

    /// The time in which most of a change is made.
    private static let seconds = 0.02

    /// Begins at a factor.
    init(at factor: Double, rateHz: Int) {
        self.factor = factor
        step = 1 - exp(-1 / (Self.seconds * Double(rateHz)))
    }

    /// The factor of the next sample.
    mutating func next(toward wanted: Double) -> Double {
        guard factor != wanted else { return factor }
        factor += (wanted - factor) * step
        if abs(wanted - factor) < wanted * 1e-6 { factor = wanted }
        return factor
    }
}
