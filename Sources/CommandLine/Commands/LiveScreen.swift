/// Lines of a terminal that are redrawn in place (ECMA-48 sequences).
struct LiveScreen {
    private var drawn = 0

    /// Hide and show the cursor.
    static let begin = "\u{1b}[?25l"
    static let end = "\u{1b}[?25h"

    /// The text that replaces the previous lines with `lines`.
    mutating func draw(_ lines: [String]) -> String {
        var text = drawn > 0 ? "\u{1b}[\(drawn)A" : ""
        for line in lines { text += "\r\(line)\u{1b}[K\n" }
        // A taller previous picture left lines below.
        text += "\u{1b}[J"
        drawn = lines.count
        return text
    }

    /// The text that removes the lines. The cursor is then where they began.
    mutating func clear() -> String {
        defer { drawn = 0 }
        return drawn > 0 ? "\u{1b}[\(drawn)A\r\u{1b}[J" : ""
    }

    /// The next picture begins at the cursor.
    mutating func reset() {
        drawn = 0
    }
}
