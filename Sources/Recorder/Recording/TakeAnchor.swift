package import Ring
package import Takes

/// One frame, by its place in the ring of the card that is open, and by its place in a take.
package struct TakeAnchor: Hashable, Sendable {
    /// In the ring.
    package var position: RingPosition
    /// In the take, at the take's rate.
    package var frame: TakeFrame

    /// A frame of the ring that is a frame of a take.
    package init(position: RingPosition, frame: TakeFrame) {
        self.position = position
        self.frame = frame
    }

    /// The frame of the take at a position of the ring, if nothing was lost in between.
    /// - Parameters:
    ///   - rateHz: of the ring.
    ///   - takeRateHz: of the take.
    package func frame(at position: RingPosition, rateHz: Int, takeRateHz: Int) -> TakeFrame {
        let distance = position - self.position
        let frames = Sidecar.frames(abs(distance), at: rateHz, countedAt: takeRateHz)
        return frame + (distance < 0 ? -frames : frames)
    }
}
