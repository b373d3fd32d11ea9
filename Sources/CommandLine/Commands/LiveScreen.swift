/// Lines of a terminal that are drawn again in their place (ECMA-48 sequences).
struct LiveScreen {
    private var drawn = 0

    /// What hides the cursor, and what gives it back.
    static let begin = "\u{1b}[?25l"
    static let end = "\u{1b}[?25h"

    /// The text that puts `lines` in the place of those before.
    mutating func draw(_ lines: [String]) -> String {
        var text = drawn > 0 ? "\u{1b}[\(drawn)A" : ""
        for line in lines { text += "\r\(line)\u{1b}[K\n" }
        // Below are lines of a taller picture before.
        text += "\u{1b}[J"
        drawn = lines.count
        return text
    }

    /// The next picture begins where the cursor is.
    mutating func reset() {
        drawn = 0
    }
}
