import Ring
import Takes

/// How many frames are missing where the card or the ring lost some.
enum GapMeasure {
    /// Frames lost before `stamp`, which reports a loss; the clock shows how many where they were not counted.
    ///
    /// - Parameter before: the last stamp from before the loss.
    static func lostFrames(before: Stamp?, at stamp: Stamp, rateHz: Int) -> Int64 {
        guard stamp.lost < 0 else { return stamp.lost }
        guard let before else { return 0 }
        let elapsed = Double((stamp.instant - before.instant).nanoseconds) * Double(rateHz) / 1e9
        let delivered: Int64 = stamp.position - before.position
        return max(0, Int64(elapsed.rounded()) - delivered)
    }

    /// Why frames were lost before a stamp; nil: none were.
    static func cause(of kind: Stamp.Kind) -> Sidecar.Gap.Cause? {
        switch kind {
        case .running, .started: nil
        case .xrun: .xrun
        case .stall: .stall
        }
    }
}
