import Ring
import Takes

/// Computes the number of frames that the card or the ring lost.
enum GapMeasure {
    /// Frames lost before `stamp`, which reports a loss. If they were not counted, the number is computed from the
    /// clock.
    ///
    /// - Parameter before: the last stamp before the loss.
    static func lostFrames(before: Stamp?, at stamp: Stamp, rateHz: Int) -> Int64 {
        guard stamp.lost < 0 else { return stamp.lost }
        guard let before else { return 0 }
        let elapsed = Double((stamp.instant - before.instant).nanoseconds) * Double(rateHz) / 1e9
        let delivered: Int64 = stamp.position - before.position
        return max(0, Int64(elapsed.rounded()) - delivered)
    }

    /// Why frames were lost before a stamp, or nil if none were.
    static func cause(of kind: Stamp.Kind) -> Sidecar.Gap.Cause? {
        switch kind {
        case .running, .started: nil
        case .xrun: .xrun
        case .stall: .stall
        }
    }
}
