/// A line of text in pieces, each in a style.
struct StyledLine: Hashable {
    /// The raw values are parameters of select graphic rendition (ECMA-48, 8.3.117).
    enum Style: String {
        case plain = ""
        case bold = "1"
        case faint = "2"
        case red = "1;31"
        case green = "1;32"
        case yellow = "1;33"
        case blue = "1;34"
    }

    private struct Piece: Hashable {
        var text: String
        var style: Style
    }

    private var pieces: [Piece] = []

    init(_ text: String = "", _ style: Style = .plain) {
        append(text, style)
    }

    /// Adds a piece. Characters that are not printable become spaces, because they could control the terminal.
    mutating func append(_ text: String, _ style: Style = .plain) {
        let printable = text.unicodeScalars.map { scalar -> Character in
            scalar.value < 0x20 || (0x7f...0x9f).contains(scalar.value) ? " " : Character(scalar)
        }
        if !printable.isEmpty { pieces.append(Piece(text: String(printable), style: style)) }
    }

    var plain: String { pieces.map(\.text).joined() }

    func indented(by count: Int) -> StyledLine {
        guard !pieces.isEmpty else { return self }
        var line = StyledLine(String(repeating: " ", count: count))
        line.pieces += pieces
        return line
    }

    /// The line cut to `columns`. The last column shows a mark if something is cut off.
    func cut(to columns: Int) -> StyledLine {
        guard plain.count > columns else { return self }
        var line = StyledLine()
        var left = max(0, columns - 1)
        for piece in pieces where left > 0 {
            line.pieces.append(Piece(text: String(piece.text.prefix(left)), style: piece.style))
            left -= piece.text.count
        }
        if columns > 0 { line.pieces.append(Piece(text: ">", style: .faint)) }
        return line
    }

    /// The text with the terminal's control sequences.
    var text: String {
        pieces.map { $0.style == .plain ? $0.text : "\u{1b}[\($0.style.rawValue)m\($0.text)\u{1b}[m" }.joined()
    }
}
