import Takes
import Transport

/// The greatest recent peak of each channel, because the eye is slower than the sound.
struct PeakHold: Equatable {
    /// How long a peak is held.
    static let duration = Duration.milliseconds(1500)

    private var held: [(peak: Double?, since: Instant)] = []

    /// The held peak of each channel in dBFS, or nil for silence.
    var peaks: [Double?] { held.map(\.peak) }

    mutating func update(_ levels: [Level], at now: Instant) {
        if held.count != levels.count { held = levels.map { _ in (nil, now) } }
        for (channel, level) in levels.enumerated() {
            let isHigher = (level.peak ?? -.infinity) >= (held[channel].peak ?? -.infinity)
            if isHigher || now - held[channel].since >= Self.duration { held[channel] = (level.peak, now) }
        }
    }

    static func == (left: PeakHold, right: PeakHold) -> Bool {
        left.held.elementsEqual(right.held) { $0.peak == $1.peak && $0.since == $1.since }
    }
}
