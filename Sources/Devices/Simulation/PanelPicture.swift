import Panel

/// The panel as lines of text: lamps, the state, one meter for each channel, the last message, the keys.
struct PanelPicture: Hashable {
    var lit: Set<Lamp> = []
    /// The text around the lamps.
    var readout = PanelReadout()
    /// The last message, or empty before the first one.
    var message = ""

    struct Glyphs: Hashable {
        var lit, dark: String
        var solid, light, empty: Character
        var back, forward: String

        static let unicode = Glyphs(lit: "●", dark: "○", solid: "█", light: "▒", empty: "·", back: "←", forward: "→")
        static let ascii = Glyphs(
            lit: "(*)", dark: "( )", solid: "#", light: "=", empty: ".", back: "<-", forward: "->")
    }

    /// The lines, none longer than `columns`. Their number depends only on the number of channels, so that the picture
    /// does not jump.
    func lines(columns: Int, glyphs: Glyphs) -> [StyledLine] {
        let meters = readout.levels.enumerated().map { index, level in
            StyledLine(meter(channel: index + 1, level, columns: columns, glyphs))
        }
        let lines =
            [
                StyledLine(readout.title, .bold),
                StyledLine(),
                lamps(glyphs),
                StyledLine(),
                StyledLine(readout.state),
                StyledLine(readout.time),
            ]
            + (meters.isEmpty ? [StyledLine("no sound", .faint)] : meters) + [
                StyledLine(readout.trouble, .yellow),
                StyledLine(message, .faint),
                StyledLine(),
                StyledLine(
                    "r record  s stop  p play  \(glyphs.back) back  \(glyphs.forward) forward  m mark  q quit", .faint),
            ]
        return lines.map { $0.indented(by: 2).cut(to: columns) }
    }

    private func lamps(_ glyphs: Glyphs) -> StyledLine {
        var line = StyledLine()
        let lamps: [(Lamp, StyledLine.Style)] = [
            (.record, .red), (.play, .green), (.upload, .blue), (.fault, .yellow),
        ]
        for (lamp, style) in lamps {
            let isLit = lit.contains(lamp)
            line.append(isLit ? glyphs.lit : glyphs.dark, isLit ? style : .faint)
            line.append(" \(lamp.rawValue)     ")
        }
        return line
    }

    private func meter(channel: Int, _ level: PanelReadout.Level, columns: Int, _ glyphs: Glyphs) -> String {
        let width = max(10, min(60, columns - 22))
        let solid = Self.share(level.rms, of: width)
        let light = max(solid, Self.share(level.peak, of: width))
        let bar =
            String(repeating: glyphs.solid, count: solid) + String(repeating: glyphs.light, count: light - solid)
            + String(repeating: glyphs.empty, count: width - light)
        guard let peak = level.peak else { return "\(channel) \(bar)  silent" }
        let tenths = Int((peak * 10).rounded())
        let figure = "\(tenths < 0 ? "-" : "")\(tenths.magnitude / 10).\(tenths.magnitude % 10)"
        return "\(channel) \(bar)  \(String(repeating: " ", count: max(0, 5 - figure.count)))\(figure) dBFS"
    }

    /// The columns of `width` that a level fills: none at −60 dBFS or less.
    private static func share(_ level: Double?, of width: Int) -> Int {
        guard let level, level > -60 else { return 0 }
        return max(1, Int((min(1, 1 + level / 60) * Double(width)).rounded()))
    }
}
