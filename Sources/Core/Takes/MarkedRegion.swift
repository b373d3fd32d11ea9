/// The region of a marker that a person set: a stretch of the take, and the band of frequencies in it.
public struct MarkedRegion: Hashable, Sendable {
    /// The frame after the last one.
    public let end: TakeFrame
    /// Nil if all frequencies belong to it.
    public let band: Band?

    public struct Band: Hashable, Sendable {
        public let lowHz: Double
        public let highHz: Double
    }

    /// Why a region is not possible.
    public struct Problem: Error, Hashable {
        /// The sentence about the mistake: the key, the mistake, and the allowed values.
        public let sentence: String
    }

    /// - Parameter start: the marker's frame.
    public init(from start: TakeFrame, to end: TakeFrame?, lowHz: Double?, highHz: Double?) throws(Problem) {
        guard let end else {
            throw Problem(sentence: "end_frame is missing: give the frame after the region's last one")
        }
        guard end > start else {
            throw Problem(
                sentence: "end_frame: found \(end.count), allowed is a later frame: the one after the region's last")
        }
        guard end <= .last else {
            throw Problem(
                sentence: "end_frame: found \(end.count), allowed is a frame up to \(TakeFrame.last.count)")
        }
        self.end = end
        switch (lowHz, highHz) {
        case (nil, nil): band = nil
        case (nil, .some): throw Problem(sentence: "low_hz is missing: give both low_hz and high_hz, or neither")
        case (.some, nil): throw Problem(sentence: "high_hz is missing: give both low_hz and high_hz, or neither")
        case (let low?, let high?):
            guard low >= 0 else {
                throw Problem(sentence: "low_hz: found \(low), allowed is a frequency of at least 0 Hz")
            }
            guard low < high, high.isFinite else {
                throw Problem(sentence: "low_hz: found \(low), high_hz is \(high): give the lower edge as low_hz")
            }
            band = Band(lowHz: low, highHz: high)
        }
    }

    /// Why the region does not fit into a take, or nil if it fits.
    /// - Parameter end: the frame after the take's last one.
    public func problem(inTakeUpTo end: TakeFrame, rateHz: Int) -> String? {
        if self.end > end {
            return "end_frame: found \(self.end.count), allowed is at most \(end.count), the end of the take"
        }
        let highest = Double(rateHz) / 2
        if let band, band.highHz > highest {
            return "high_hz: found \(band.highHz), allowed is at most \(highest) Hz, half the take's rate"
        }
        return nil
    }
}

extension MarkedRegion {
    /// The region of a marker, up to the end of its take, or nil for a point. A band with a single edge is left out.
    init?(of marker: Sidecar.Marker, before end: TakeFrame) {
        let (content, last) = (marker.content, marker.content.endFrame.map { min($0, end) })
        let whole = try? MarkedRegion(
            from: marker.atFrame, to: last, lowHz: content.lowHz, highHz: content.highHz)
        let stretch = try? MarkedRegion(from: marker.atFrame, to: last, lowHz: nil, highHz: nil)
        guard let region = whole ?? stretch else { return nil }
        self = region
    }
}
