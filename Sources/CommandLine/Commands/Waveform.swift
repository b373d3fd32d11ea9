import Glibc
import TakeFiles

/// A take's waveform in text. Each column is a span of time, as high as its greatest peak in dBFS.
struct Waveform {
    /// The bottom of the picture; the top is full scale. The lowest peak in an 8-bit file is -42 dBFS.
    static let lowestDBFS = -48.0
    private static let rowCount = 4

    private let magnitudes: [Int]
    private let durationSeconds: Double

    /// - Parameter durationSeconds: of the whole take.
    init(_ overview: PeaksOverview, durationSeconds: Double) {
        magnitudes = overview.magnitudes
        self.durationSeconds = durationSeconds
    }

    /// The picture from top to bottom, followed by a line with times. Empty for a take without sound.
    /// - Parameter showsUnicode: whether the terminal can show more than ASCII.
    func lines(width: Int, showsUnicode: Bool) -> [String] {
        guard !magnitudes.isEmpty, width > 0 else { return [] }
        let glyphs: [Character] = showsUnicode ? Array(" ▁▂▃▄▅▆▇█") : Array(" .:#")
        let steps = glyphs.count - 1
        let heights = (0..<width).map { column in
            Self.height(magnitudes[column * magnitudes.count / width], of: Self.rowCount * steps)
        }
        let rows = (0..<Self.rowCount).reversed().map { row in
            String(heights.map { glyphs[min(steps, max(0, $0 - row * steps))] })
        }
        let scale = "peaks of all channels, \(Figures.short(Self.lowestDBFS)) dBFS (bottom) to 0 dBFS (top)"
        return [scale] + rows + [times(width)]
    }

    /// How many of `steps` a peak fills. Silence fills none, anything else at least one.
    private static func height(_ magnitude: Int, of steps: Int) -> Int {
        guard magnitude > 0 else { return 0 }
        let level = 20 * log10(Double(min(magnitude, 128)) / 128)
        return max(1, Int(((1 - level / lowestDBFS) * Double(steps)).rounded()))
    }

    /// The beginning and the end of the take, below the first and the last column.
    private func times(_ width: Int) -> String {
        let (first, last) = (Figures.time(0), Figures.time(durationSeconds))
        guard first.count + last.count < width else { return last }
        return first + String(repeating: " ", count: width - first.count - last.count) + last
    }
}
