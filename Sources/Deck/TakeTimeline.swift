/// Where the ring's frames lie in a take: as far from its first as in the ring, and later by the silence that stands for
/// what was lost in between.
struct TakeTimeline {
    /// The ring's position of the take's first frame.
    let first: Int64
    private var losses: [(position: Int64, frames: Int64)] = []

    init(first: Int64) {
        self.first = first
    }

    /// Silent frames stand before the ring's frame at `position`.
    mutating func fill(_ frames: Int64, before position: Int64) {
        losses.append((position, frames))
    }

    /// The take's frame that the ring has at `position`; where some were lost right before it, the first silent one.
    func frame(of position: Int64) -> Int64 {
        position - first + losses.lazy.filter { $0.position < position }.reduce(0) { $0 + $1.frames }
    }
}
