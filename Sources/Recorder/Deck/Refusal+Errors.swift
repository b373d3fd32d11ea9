import Filters
import Ring
import Transport

// Errors of the deck's parts as refusals.
extension Refusal {
    init(_ error: GainError) {
        switch error.reason {
        case .noControl: self.init(.notFound, error.description, Reason("gain-missing"))
        case .outOfRange: self.init(.badData, error.description, Reason("gain-out-of-range"))
        case .failed: self.init(.io, error.description, Reason("gain-not-set"))
        }
    }

    init(filter error: any Error) {
        let message = "\(error); the filter stays as it is"
        switch error as? FilterError {
        case .cutoffOutOfRange(_, let hertz, let rateHz):
            let range = FilterDesign.cutoffRange(rateHz: rateHz)
            self.init(
                .badData, message,
                Reason(
                    "cutoff-out-of-range",
                    [
                        "found": Self.hertz(hertz), "least": Self.hertz(range.lowerBound),
                        "most": Self.hertz(range.upperBound),
                    ]))
        case .bandIsEmpty(let highPassHz, let lowPassHz):
            self.init(
                .badData, message,
                Reason("band-is-empty", ["high": Self.hertz(highPassHz), "low": Self.hertz(lowPassHz)]))
        case .noSuchSlope, nil: self.init(.badData, message)
        }
    }

    init(storage fault: Fault) {
        self.init(.storageUnusable(message: fault.message, isFull: fault.code == .diskFull))
    }

    private static func hertz(_ value: Double) -> Reason.Value {
        Int(exactly: value.rounded()).map { .number($0) } ?? .text("\(value)")
    }
}
