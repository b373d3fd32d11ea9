import Transport

/// A level meter in text: a scale in dB, and one bar per channel.
///
/// The bar is solid up to the RMS level and lighter up to the peak. A thin line marks the held peak.
struct Meter {
    /// The left end of the scale. The right end is full scale.
    static let lowestDBFS = -60.0
    private static let labelWidth = 3
    private static let figureWidth = 8

    /// The characters of the bars.
    struct Glyphs {
        var solid, light, held, empty: Character

        static let unicode = Glyphs(solid: "█", light: "▒", held: "│", empty: "·")
        static let ascii = Glyphs(solid: "#", light: "=", held: "|", empty: ".")
    }

    private let barWidth: Int
    private let glyphs: Glyphs

    /// A meter at most `width` columns wide.
    init(width: Int, glyphs: Glyphs) {
        barWidth = max(10, width - Self.labelWidth - Self.figureWidth)
        self.glyphs = glyphs
    }

    /// The scale above the bars, with a number every 10 dB, or every 20 dB on a narrow meter.
    var scale: String {
        var row = [Character](repeating: " ", count: Self.labelWidth + barWidth + Self.figureWidth)
        let step = barWidth >= 36 ? 10 : 20
        for level in stride(from: 0, through: Int(Self.lowestDBFS), by: -step) {
            // The last digit stands over the last column that this level fills.
            let text = Array(level == 0 ? "0 dBFS" : "\(level)")
            let digits = level == 0 ? 1 : text.count
            let last = Self.labelWidth + max(digits, columns(Double(level))) - 1
            for (index, character) in text.enumerated() where last - digits + 1 + index < row.count {
                row[last - digits + 1 + index] = character
            }
        }
        return String(row).trimmingSpaces
    }

    /// One channel's bar, followed by the number of its held peak, which is marked at full scale.
    func bar(channel: Int, level: Level, held: Double?) -> String {
        let solid = columns(level.rms)
        let light = columns(level.peak)
        var bar = (0..<barWidth).map { column in
            column < solid ? glyphs.solid : column < light ? glyphs.light : glyphs.empty
        }
        let mark = columns(held)
        if mark > light { bar[mark - 1] = glyphs.held }
        let label = String(channel)
        let figure = held.map { $0 >= 0 ? "CLIP" : Figures.decimal($0, digits: 1) } ?? "-"
        return padded(label, Self.labelWidth - 1) + " " + String(bar) + padded(figure, Self.figureWidth)
    }

    /// The number of columns that a level fills.
    private func columns(_ level: Double?) -> Int {
        guard let level, level > Self.lowestDBFS else { return 0 }
        let share = min(1, 1 - level / Self.lowestDBFS)
        return max(1, Int((share * Double(barWidth)).rounded()))
    }

    private func padded(_ text: String, _ width: Int) -> String {
        String(repeating: " ", count: max(0, width - text.count)) + text
    }
}

extension String {
    fileprivate var trimmingSpaces: String {
        var text = self
        while text.last == " " { text.removeLast() }
        return text
    }
}
