import Ring
import Transport

/// Checks that the card runs at its stated rate. Pure: it gets the measurements.
struct RateWatch {
    private enum State {
        /// The rate is right, or not known yet.
        case right
        /// The measurement at which the fault was noticed. It is kept, so that the sentence stays the same while the
        /// rate drifts a little.
        case wrong(RateMeasure)
    }

    private var state = State.right

    /// Adds the latest measurement, or nil before the first.
    mutating func add(_ measure: RateMeasure?) {
        guard let measure, measure.isSure else { return }
        switch state {
        case .right: if measure.isWrong { state = .wrong(measure) }
        case .wrong(let noticed):
            let moved = (measure.offsetPPM - noticed.offsetPPM).magnitude
            if measure.offsetPPM.magnitude <= RateMeasure.mostOffsetPPM / 2 {
                state = .right
            } else if moved > RateMeasure.mostOffsetPPM, measure.isWrong {
                state = .wrong(measure)
            }
        }
    }

    func fault(card: String) -> Fault? {
        switch state {
        case .right: nil
        case .wrong(let measure): Fault(.signal, "signal: \(card): \(measure.complaint)")
        }
    }
}
