import Ring
import Takes

/// Where the frames of one ring lie in a take: as far from its first as in the ring, and later by the silence that stands for
/// what was lost in between. Where the card came back at another rate, the take goes on counting at its own.
struct TakeTimeline {
    /// The ring's position of the first frame.
    let first: RingPosition
    /// Which frame of the take that is.
    let origin: TakeFrame
    private let rateHz: Int
    private let takeRateHz: Int
    private var losses: [(position: RingPosition, frames: Int64)] = []

    /// - Parameters:
    ///   - rateHz: of the ring.
    ///   - takeRateHz: of the take.
    init(first: RingPosition, origin: TakeFrame, rateHz: Int, takeRateHz: Int) {
        self.first = first
        self.origin = origin
        self.rateHz = rateHz
        self.takeRateHz = takeRateHz
    }

    /// Whether silence stands for anything yet.
    var hasLosses: Bool { !losses.isEmpty }

    /// Silent frames stand before the ring's frame at `position`.
    mutating func fill(_ frames: Int64, before position: RingPosition) {
        losses.append((position, frames))
    }

    /// The take's frame that the ring has at `position`; where some were lost right before it, the first silent one.
    func frame(of position: RingPosition) -> TakeFrame {
        frame(position, after: losses.lazy.filter { $0.position < position }.reduce(0) { $0 + $1.frames })
    }

    /// The same, but where some were lost right before it, the first that was sampled again.
    func frame(behindLossesAt position: RingPosition) -> TakeFrame {
        frame(position, after: losses.lazy.filter { $0.position <= position }.reduce(0) { $0 + $1.frames })
    }

    private func frame(_ position: RingPosition, after silence: Int64) -> TakeFrame {
        origin + Sidecar.frames(position - first + silence, at: rateHz, countedAt: takeRateHz)
    }
}
