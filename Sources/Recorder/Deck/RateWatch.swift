import Ring
import Transport

/// Whether the card runs at the rate that it states. Pure: it is fed with what is measured.
struct RateWatch {
    private enum State {
        /// It does, or it is not known yet.
        case right
        /// As it was when it was noticed: the sentence stays the same while the rate wanders a little.
        case wrong(RateMeasure)
    }

    private var state = State.right

    /// Takes in what was measured last; nil: nothing yet.
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

    /// What is wrong; nil: nothing.
    func fault(card: String) -> Fault? {
        switch state {
        case .right: nil
        case .wrong(let measure): Fault(.signal, "signal: \(card): \(measure.complaint)")
        }
    }
}
