import Glibc
import Takes

/// The gain of the synthetic voice, like that of a mixer. One thread sets it while another one uses it.
final class VoiceGain: Sendable {
    static let range = GainRange(min: 0, max: 30, step: 0.5)

    private let decibels = Locked(0.0)

    var gainDB: Double { decibels.withLock { $0 } }

    /// Sets the step that is nearest to a gain.
    func set(nearest gainDB: Double) {
        let step = Self.range.step ?? 1
        let inRange = min(max(gainDB, Self.range.min), Self.range.max)
        decibels.withLock { $0 = (inRange / step).rounded() * step }
    }

    var factor: Double { pow(10, gainDB / 20) }
}

/// Approaches the wanted factor smoothly, to avoid a click.
struct GainRamp {
    private var factor: Double
    private let step: Double

    /// The time constant of a change, in seconds.
    private static let seconds = 0.02

    init(at factor: Double, rateHz: Int) {
        self.factor = factor
        step = 1 - exp(-1 / (Self.seconds * Double(rateHz)))
    }

    mutating func next(toward wanted: Double) -> Double {
        guard factor != wanted else { return factor }
        factor += (wanted - factor) * step
        if abs(wanted - factor) < wanted * 1e-6 { factor = wanted }
        return factor
    }
}
