import Ring
import Takes

/// Maps the frames of one ring to those of a take: their distance from the first frame is the distance in the ring plus
/// the silence for lost frames. If the card came back at another rate, the take still counts at its own rate.
struct TakeTimeline {
    /// The ring's position of the first frame.
    let first: RingPosition
    /// The take's frame at `first`.
    let origin: TakeFrame
    private let rateHz: Int
    private let takeRateHz: Int
    private var losses: [(position: RingPosition, frames: Int64)] = []

    /// - Parameters:
    ///   - rateHz: the ring's rate.
    ///   - takeRateHz: the take's rate.
    init(first: RingPosition, origin: TakeFrame, rateHz: Int, takeRateHz: Int) {
        self.first = first
        self.origin = origin
        self.rateHz = rateHz
        self.takeRateHz = takeRateHz
    }

    var hasLosses: Bool { !losses.isEmpty }

    /// Inserts silent frames before the ring's frame at `position`.
    mutating func fill(_ frames: Int64, before position: RingPosition) {
        losses.append((position, frames))
    }

    /// The take's frame for the ring's frame at `position`. Directly after a loss, this is the first silent frame.
    func frame(of position: RingPosition) -> TakeFrame {
        frame(position, after: losses.lazy.filter { $0.position < position }.reduce(0) { $0 + $1.frames })
    }

    /// The take's frame for the ring's frame at `position`. Directly after a loss, this is the first frame that was
    /// sampled again.
    func frame(behindLossesAt position: RingPosition) -> TakeFrame {
        frame(position, after: losses.lazy.filter { $0.position <= position }.reduce(0) { $0 + $1.frames })
    }

    private func frame(_ position: RingPosition, after silence: Int64) -> TakeFrame {
        origin + Sidecar.frames(position - first + silence, at: rateHz, countedAt: takeRateHz)
    }
}
