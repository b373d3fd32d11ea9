/// The reason why a filter cannot be designed.
public enum FilterError: Error, Hashable, Sendable {
    /// A cutoff that the rate does not allow, or not a number.
    case cutoffOutOfRange(FilterKind, hertz: Double, rateHz: Int)
    /// The high-pass is not below the low-pass.
    case bandIsEmpty(highPassHz: Double, lowPassHz: Double)
    /// The slope is not 12, 24, 36 or 48.
    case noSuchSlope(dBPerOctave: Int)
}

public enum FilterKind: Hashable, Sendable {
    case lowPass
    case highPass
}

#if !hasFeature(Embedded)
    extension FilterKind: CustomStringConvertible {
        public var description: String {
            switch self {
            case .lowPass: "low-pass"
            case .highPass: "high-pass"
            }
        }
    }

    extension FilterError: CustomStringConvertible {
        /// One sentence, with the allowed values.
        public var description: String {
            switch self {
            case .cutoffOutOfRange(let kind, let hertz, let rateHz):
                let range = FilterDesign.cutoffRange(rateHz: rateHz)
                return "filter: \(kind) \(plain(hertz)) Hz: out of range at \(rateHz) Hz: "
                    + "\(plain(range.lowerBound)) to \(plain(range.upperBound)) Hz"
            case .bandIsEmpty(let highPassHz, let lowPassHz):
                return "filter: high-pass \(plain(highPassHz)) Hz: not below the low-pass at \(plain(lowPassHz)) Hz"
            case .noSuchSlope(let dBPerOctave):
                return "filter: slope \(dBPerOctave) dB per octave: not one of 12, 24, 36, 48"
            }
        }

        private func plain(_ hertz: Double) -> String {
            Int(exactly: hertz).map(String.init) ?? "\(hertz)"
        }
    }
#endif
