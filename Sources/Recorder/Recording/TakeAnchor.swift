package import Ring
package import Takes

/// One frame, by its position in the ring of the open card and by its number in a take.
package struct TakeAnchor: Hashable, Sendable {
    package var position: RingPosition
    /// At the take's rate.
    package var frame: TakeFrame

    package init(position: RingPosition, frame: TakeFrame) {
        self.position = position
        self.frame = frame
    }

    /// The take's frame at a position of the ring, if nothing was lost in between.
    /// - Parameters:
    ///   - rateHz: the ring's rate.
    ///   - takeRateHz: the take's rate.
    package func frame(at position: RingPosition, rateHz: Int, takeRateHz: Int) -> TakeFrame {
        let distance = position - self.position
        let frames = Sidecar.frames(abs(distance), at: rateHz, countedAt: takeRateHz)
        return frame + (distance < 0 ? -frames : frames)
    }
}
