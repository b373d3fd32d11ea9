import Glibc
import Ring
import SeededRandom
import Takes

/// A card that reports its frames like a driver, and loses some without a report. It simulates hours in an instant.
struct PretendCard {
    /// How late stamps are, in milliseconds.
    enum Jitter: CaseIterable {
        /// No lateness, except for the incomplete frame.
        case none
        /// A good driver: 20 µs.
        case small
        /// A tenth of a millisecond.
        case fair
        /// Every other stamp is late, up to a millisecond: the loopback.
        case tick
        /// Evenly up to 3 ms.
        case wide
        /// Small, and occasionally tens of milliseconds.
        case spikes
        /// Occasionally several milliseconds, for up to eight seconds.
        case spells
    }

    var rateHz = 48000
    var periodSeconds = 0.12
    var ppm = 0.0
    var jitter = Jitter.small
    /// When frames are lost, in seconds, and their duration in milliseconds.
    var losses: [(at: Double, milliseconds: Double)] = []
    /// Additional parts per million, by the second.
    var wander: (Double) -> Double = { _ in 0 }
    /// Late wake-ups: (at, seconds late). A stale one reports the new time with the old position.
    var stalls: [(at: Double, seconds: Double, isStale: Bool)] = []
    /// Ranges in seconds in which all stamps are late, and by how many milliseconds.
    var late: [(from: Double, to: Double, milliseconds: ClosedRange<Double>)] = []
    var generator = SeededRandom(seed: 1)
    private var spellEnds = -1.0
    private var spellMilliseconds = 0.0

    init() {}

    /// Frames that were lost up to the end of the last run.
    private(set) var lost = 0.0

    /// Runs from second 0.
    mutating func run(seconds: Double, _ receive: (Stamp) -> Void) {
        receive(Stamp(position: 0, instant: Instant(nanoseconds: 0), kind: .started))
        var second = 0.0
        var sampled = 0.0
        var nextLoss = 0
        var nextStall = 0
        lost = 0
        while second < seconds {
            var step = periodSeconds
            var isStale = false
            if nextStall < stalls.count, stalls[nextStall].at <= second {
                step += stalls[nextStall].seconds
                isStale = stalls[nextStall].isStale
                nextStall += 1
            }
            second += step
            let before = sampled
            sampled += Double(rateHz) * step * (1 + (ppm + wander(second)) * 1e-6)
            while nextLoss < losses.count, losses[nextLoss].at <= second {
                lost += losses[nextLoss].milliseconds / 1000 * Double(rateHz)
                nextLoss += 1
            }
            let late = isStale ? 0 : max(lateness(second), spell(second))
            let position = Int64((isStale ? before : sampled) - lost)
            receive(
                Stamp(
                    position: RingPosition(position), instant: Instant(nanoseconds: Int64((second + late / 1000) * 1e9))
                ))
        }
    }

    private mutating func spell(_ second: Double) -> Double {
        guard let spell = late.first(where: { $0.from <= second && second < $0.to }) else { return 0 }
        let range = spell.milliseconds
        return range.lowerBound + generator.share() * (range.upperBound - range.lowerBound)
    }

    private mutating func lateness(_ second: Double) -> Double {
        switch jitter {
        case .none: return 0
        case .small: return generator.tail(0.02)
        case .fair: return generator.tail(0.1)
        case .wide: return 3 * generator.share()
        case .tick: return generator.share() < 0.5 ? generator.tail(0.02) : generator.share()
        case .spikes: return generator.tail(0.02) + (generator.share() < 0.02 ? generator.tail(10) : 0)
        case .spells:
            if second > spellEnds, generator.share() < 0.002 {
                spellEnds = second + min(8, generator.tail(4))
                spellMilliseconds = generator.tail(3)
            }
            return generator.tail(0.02) + (second < spellEnds ? generator.share() * spellMilliseconds : 0)
        }
    }
}

extension SeededRandom {
    /// Uniform in 0..<1.
    mutating func share() -> Double { Double(next() >> 11) * 0x1p-53 }

    /// Exponentially distributed with this mean.
    mutating func tail(_ mean: Double) -> Double { -log(1 - share()) * mean }
}
