import Takes

/// Where the frames of one ring lie in a take: as far from its first as in the ring, and later by the silence that stands for
/// what was lost in between. Where the card came back at another rate, the take goes on counting at its own.
struct TakeTimeline {
    /// The ring's position of the first frame.
    let first: Int64
    /// Which frame of the take that is.
    private let origin: Int64
    private let rateHz: Int
    private let takeRateHz: Int
    private var losses: [(position: Int64, frames: Int64)] = []

    /// - Parameters:
    ///   - rateHz: of the ring.
    ///   - takeRateHz: of the take.
    init(first: Int64, origin: Int64, rateHz: Int, takeRateHz: Int) {
        self.first = first
        self.origin = origin
        self.rateHz = rateHz
        self.takeRateHz = takeRateHz
    }

    /// Whether silence stands for anything yet.
    var hasLosses: Bool { !losses.isEmpty }

    /// Silent frames stand before the ring's frame at `position`.
    mutating func fill(_ frames: Int64, before position: Int64) {
        losses.append((position, frames))
    }

    /// The take's frame that the ring has at `position`; where some were lost right before it, the first silent one.
    func frame(of position: Int64) -> Int64 {
        frame(position, after: losses.lazy.filter { $0.position < position }.reduce(0) { $0 + $1.frames })
    }

    /// The same, but where some were lost right before it, the first that is heard again.
    func frame(behindLossesAt position: Int64) -> Int64 {
        frame(position, after: losses.lazy.filter { $0.position <= position }.reduce(0) { $0 + $1.frames })
    }

    private func frame(_ position: Int64, after silence: Int64) -> Int64 {
        origin + Sidecar.frames(position - first + silence, at: rateHz, countedAt: takeRateHz)
    }
}
