import Foundation

/// The numbers at the beginning of an answer with a spectrogram.
struct SpectrumHead: Equatable {
    var columns: Int
    var rows: Int
    var rateHz: Int
    /// Samples in a window.
    var window: Int
    /// The first frame of the first column.
    var first: Int

    static let byteCount = 32

    init(columns: Int, rows: Int, rateHz: Int, window: Int, first: Int) {
        (self.columns, self.rows, self.rateHz, self.window, self.first) = (columns, rows, rateHz, window, first)
    }

    /// Nil unless the answer is a spectrogram with all its values.
    init?(_ bytes: Data) {
        let bytes = Array(bytes)
        guard bytes.starts(with: "FFSPECT1".utf8), bytes.count >= Self.byteCount else { return nil }
        func number(_ place: Int, _ count: Int) -> Int {
            (0..<count).reduce(0) { $0 | Int(bytes[place + $1]) << (8 * $1) }
        }
        self.init(
            columns: number(8, 4), rows: number(12, 4), rateHz: number(16, 4), window: number(20, 4),
            first: number(24, 8))
        guard bytes.count == Self.byteCount + columns * rows else { return nil }
    }
}
