public import Takes

/// The capture filter at a card's rate: an optional Butterworth low-pass and an optional high-pass with the same slope.
public struct FilterDesign: Equatable, Sendable {
    /// The cutoff of the low-pass, or nil without one.
    public let lowPassHz: Double?
    /// The cutoff of the high-pass, or nil without one.
    public let highPassHz: Double?
    /// 12, 24, 36 or 48: order 2, 4, 6 or 8.
    public let slopeDBPerOctave: Int
    public let rateHz: Int

    /// - Throws: a `FilterError` with the values that this rate allows.
    public init(lowPassHz: Double?, highPassHz: Double?, slopeDBPerOctave: Int, rateHz: Int) throws(FilterError) {
        guard FilterRequest.slopes.contains(slopeDBPerOctave) else {
            throw .noSuchSlope(dBPerOctave: slopeDBPerOctave)
        }
        let range = Self.cutoffRange(rateHz: rateHz)
        if let lowPassHz, !range.contains(lowPassHz) {
            throw .cutoffOutOfRange(.lowPass, hertz: lowPassHz, rateHz: rateHz)
        }
        if let highPassHz, !range.contains(highPassHz) {
            throw .cutoffOutOfRange(.highPass, hertz: highPassHz, rateHz: rateHz)
        }
        if let lowPassHz, let highPassHz, highPassHz >= lowPassHz {
            throw .bandIsEmpty(highPassHz: highPassHz, lowPassHz: lowPassHz)
        }
        self.lowPassHz = lowPassHz
        self.highPassHz = highPassHz
        self.slopeDBPerOctave = slopeDBPerOctave
        self.rateHz = rateHz
    }

    /// The requested filter, at a card's rate.
    /// - Throws: a `FilterError` with the values that this rate allows.
    public init(_ request: FilterRequest, rateHz: Int) throws(FilterError) {
        let lowPassHz: Double? =
            switch request.lowPass {
            case .automatic: Self.cutoffRange(rateHz: rateHz).upperBound
            case .off: nil
            case .hertz(let hertz): hertz
            }
        let highPassHz: Double? =
            switch request.highPass {
            // No cutoff of a high-pass is harmless at every rate.
            case .automatic, .off: nil
            case .hertz(let hertz): hertz
            }
        try self.init(
            lowPassHz: lowPassHz, highPassHz: highPassHz, slopeDBPerOctave: request.slopeDBPerOctave, rateHz: rateHz)
    }

    private init(offAt rateHz: Int) {
        lowPassHz = nil
        highPassHz = nil
        slopeDBPerOctave = 24
        self.rateHz = rateHz
    }

    /// No filter. The stored samples equal the card's samples, bit for bit.
    public static func off(rateHz: Int) -> FilterDesign {
        FilterDesign(offAt: rateHz)
    }

    public var isOff: Bool { lowPassHz == nil && highPassHz == nil }

    /// The cutoffs that a rate allows: from 20 Hz to 0.45 of the rate.
    public static func cutoffRange(rateHz: Int) -> ClosedRange<Double> {
        // 9/20 instead of 0.45, which a binary fraction cannot represent: the limit stays a whole number of hertz.
        20...max(20, Double(rateHz) * 9 / 20)
    }

    /// The filters in the order in which the signal passes them.
    public var filters: [Butterworth] {
        let order = slopeDBPerOctave / 6
        var filters: [Butterworth] = []
        if let highPassHz {
            filters.append(Butterworth(.highPass, order: order, cutoffHz: highPassHz, rateHz: rateHz))
        }
        if let lowPassHz {
            filters.append(Butterworth(.lowPass, order: order, cutoffHz: lowPassHz, rateHz: rateHz))
        }
        return filters
    }

    /// The response at a frequency, in dB.
    public func gainDB(atHz frequencyHz: Double) -> Double {
        filters.reduce(0) { $0 + $1.gainDB(atHz: frequencyHz) }
    }
}
