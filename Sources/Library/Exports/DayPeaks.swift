import Glibc
public import Takes

/// The levels of a stretch of a day: the peak of all takes and channels in each column.
public struct DayPeaks: Sendable {
    /// In dB of full scale. Nil where nothing was recorded, or only silence.
    public private(set) var peaks: [Double?]
    private let columns: DayColumns

    public init(_ columns: DayColumns) {
        self.columns = columns
        peaks = [Double?](repeating: nil, count: columns.count)
    }

    /// Raises the columns to the peaks of a take.
    ///
    /// The waveform has 8 bits, so that it shows no difference below -48 dB. The take's own peak limits each column.
    /// - Parameters:
    ///   - start: when the take began, in seconds since the day began.
    ///   - folder: of the take's day, or nil while its storage is out. Only a take that is shown in one column needs no
    ///     file.
    public mutating func add(_ sidecar: Sidecar, at start: Double, in folder: String?, _ pyramid: WaveformPyramid) {
        let peak = sidecar.levels.compactMap(\.peakDBFS).max()
        guard peak != nil || sidecar.levels.isEmpty else { return }
        let parts = sidecar.parts.map { TakeSound.Part($0, of: sidecar).time(ofTakeAt: start, rateHz: sidecar.rateHz) }
        let time = start..<max(start, parts.map(\.upperBound).max() ?? start)
        let shown = columns.columns(showing: time)
        if let peak, let column = shown.first, shown.count == 1, time.clamped(to: columns.stretch) == time {
            return raise(column, to: peak)
        }
        let frames = (sidecar.spanSeconds * Double(sidecar.rateHz)).rounded(.up)
        guard let folder, !shown.isEmpty, frames >= 1, frames <= Double(TakeFrame.last.count) else { return }
        let ranges = shown.map {
            columns.frames(of: $0, in: time, rateHz: sidecar.rateHz, frames: Int64(frames))
        }
        // Without its waveform, a take has no levels here.
        guard let found = try? pyramid.magnitudes(of: sidecar, in: folder, ranges) else { return }
        for (column, magnitude) in zip(shown, found)
        where parts.contains(where: { $0.overlaps(columns.time(of: column)) }) {
            raise(column, to: min(Self.decibels(magnitude), peak ?? 0))
        }
    }

    private mutating func raise(_ column: Int, to peak: Double) {
        // A damaged number must have a JSON form.
        let peak = max(-1000, min(peak, 1000))
        peaks[column] = max(peaks[column] ?? -.infinity, (peak * 10).rounded() / 10)
    }

    /// The middle of the levels that have this magnitude, of which full scale is 128.
    private static func decibels(_ magnitude: Int) -> Double { 20 * log10((Double(magnitude) + 0.5) / 128) }
}
