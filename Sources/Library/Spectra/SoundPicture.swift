/// A spectrogram at any zoom, computed from samples.
public struct SoundPicture: Hashable, Sendable {
    public let columns: Int
    public let rows: Int
    /// `rows` values for each column, as `Decibels`, from the lowest frequency to the highest, column after column.
    public let values: [UInt8]

    /// The longest sound of one picture.
    public static let mostSeconds = 60
    /// The most values in one picture.
    public static let mostValues = 1 << 24
    /// The most windows in one picture: 60 s at 1 MHz with the shortest windows.
    static let mostWindows = 1 << 19

    /// Transforms sound. Column c is the greatest power of all windows whose middle is in its `hop` frames. There is one
    /// window in the middle of these frames, or several if `hop` is longer than half a window, so that every frame of the
    /// sound is in the picture.
    /// - Parameters:
    ///   - samples: one channel with full scale 1, at most 60 s. Outside them is silence.
    ///   - lead: the index of the first sample of column 0. For a piece of a longer sound, half a window of samples in
    ///     front of the piece and behind it belongs to the samples too.
    ///   - hop: samples from a column to the next.
    ///   - window: samples in a window, a power of two from 256 to 8192.
    ///   - bins: a row for each of these. Bin k is at the frequency k · rate / window; the last one is window / 2.
    /// - Throws: `SpectraError` if a number is out of range.
    public init(
        of samples: Span<Float>, rateHz: Int, lead: Int, columns: Int, hop: Int, window: Int, bins: Range<Int>
    ) throws(SpectraError) {
        try Self.check(samples.count, rateHz: rateHz, window: window, bins)
        guard (1...max(1, samples.count)).contains(hop), (0...samples.count).contains(lead), columns >= 0,
            columns <= (samples.count - lead + hop - 1) / hop, columns <= Self.mostValues / bins.count
        else {
            throw Self.refusal(
                "\(columns) columns with a hop of \(hop) from sample \(lead) of \(samples.count) are too many or none")
        }
        try self.init(samples, columns: columns, widest: hop, window, bins) { lead + $0 * hop }
    }

    /// The same with columns of any widths.
    /// - Parameter edges: the index of the first sample of each column, in order, followed by the end of the last column.
    ///   A column without a sample shows the one at its edge.
    /// - Throws: `SpectraError` if a number is out of range.
    public init(
        of samples: Span<Float>, rateHz: Int, edges: [Int], window: Int, bins: Range<Int>
    ) throws(SpectraError) {
        try Self.check(samples.count, rateHz: rateHz, window: window, bins)
        let columns = max(0, edges.count - 1)
        var widest = 1
        var isInOrder = (0...samples.count).contains(edges.first ?? 0) && edges.last ?? 0 <= samples.count
        for column in 0..<columns {
            isInOrder = isInOrder && edges[column] <= edges[column + 1]
            if isInOrder { widest = max(widest, edges[column + 1] - edges[column]) }
        }
        guard isInOrder, columns <= Self.mostValues / bins.count else {
            throw Self.refusal("\(columns) columns of \(samples.count) samples are too many or not in order")
        }
        try self.init(samples, columns: columns, widest: widest, window, bins) { edges[$0] }
    }

    /// - Parameter edge: the index of the first sample of a column.
    private init(
        _ samples: Span<Float>, columns: Int, widest: Int, _ window: Int, _ bins: Range<Int>, edge: (Int) -> Int
    ) throws(SpectraError) {
        let windowsPerColumn = (widest + window / 2 - 1) / (window / 2)
        guard columns <= Self.mostWindows / windowsPerColumn else {
            throw Self.refusal(
                "\(columns) columns of \(windowsPerColumn) windows are too many: ask for a shorter range")
        }
        self.columns = columns
        rows = bins.count
        values = Self.values(
            samples, columns: columns, windowsPerColumn, RealTransform(length: window), bins, edge: edge)
    }

    private static func refusal(_ what: String) -> SpectraError { SpectraError(.usage, "spectrum: \(what)") }

    private static func check(
        _ sampleCount: Int, rateHz: Int, window: Int, _ bins: Range<Int>
    ) throws(SpectraError) {
        guard ColumnFormat.rates.contains(rateHz), sampleCount <= mostSeconds * rateHz else {
            throw refusal("\(sampleCount) samples at \(rateHz) Hz are more than \(mostSeconds) s")
        }
        guard RealTransform.lengths.contains(window), window.nonzeroBitCount == 1 else {
            throw refusal("a window has \(window) samples: powers of two from 256 to 8192 are allowed")
        }
        guard !bins.isEmpty, bins.lowerBound >= 0, bins.upperBound <= window / 2 + 1 else {
            throw refusal("bins \(bins.lowerBound) to \(bins.upperBound) are not within 0 to \(window / 2 + 1)")
        }
    }

    private static func values(
        _ samples: Span<Float>, columns: Int, _ windowsPerColumn: Int, _ transform: RealTransform,
        _ bins: Range<Int>, edge: (Int) -> Int
    ) -> [UInt8] {
        let window = transform.length
        var values = [UInt8](repeating: 0, count: columns * bins.count)
        var plane = [Float](repeating: 0, count: 4 * window)
        var powers = [SIMD4<Float>](repeating: SIMD4(), count: window / 2 + 1)
        var column = [Float](repeating: 0, count: bins.count)
        let count = columns * windowsPerColumn
        for first in stride(from: 0, to: count, by: 4) {
            for lane in 0..<4 {
                // The last window may be computed several times.
                let (index, part) = min(first + lane, count - 1).quotientAndRemainder(dividingBy: windowsPerColumn)
                let width = max(1, edge(index + 1) - edge(index))
                let middle = edge(index) + (2 * part + 1) * width / (2 * windowsPerColumn)
                let start = middle - window / 2
                let sound = (start..<start + window).clamped(to: samples.indices)
                for index in lane * window..<(lane + 1) * window { plane[index] = 0 }
                for index in sound { plane[lane * window + index - start] = samples[index] }
            }
            transform.transform(plane.span, at: SIMD4(0, window, 2 * window, 3 * window))
            for bin in powers.indices { powers[bin] = SIMD4() }
            transform.pool(into: &powers, at: 0, shift: 0)
            for lane in 0..<min(4, count - first) {
                for (row, bin) in bins.enumerated() where powers[bin][lane] > column[row] {
                    column[row] = powers[bin][lane]
                }
                let (index, part) = (first + lane).quotientAndRemainder(dividingBy: windowsPerColumn)
                guard part == windowsPerColumn - 1 else { continue }
                for row in 0..<bins.count {
                    values[index * bins.count + row] = Decibels.values(of: SIMD4(repeating: column[row]))[0]
                    column[row] = 0
                }
            }
        }
        return values
    }
}
