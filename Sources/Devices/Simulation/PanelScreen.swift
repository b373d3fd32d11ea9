/// Lines at the end of a terminal that are drawn again in their place (ECMA-48 sequences).
struct PanelScreen {
    private var drawn = 0
    private var columns = 0
    private var isTorn = false

    /// What hides the cursor, and what gives it back.
    static let begin = "\u{1b}[?25l"
    static let end = "\u{1b}[?25h"

    /// The text that puts `lines` in the place of those before, and `above` on top of them, to stay there.
    mutating func draw(_ lines: [StyledLine], above: [String] = [], columns: Int) -> String {
        var text = ""
        if isTorn || (drawn > 0 && columns != self.columns) {
            // The place of lines that were wrapped, or cut off in the middle, is not known: begin with an empty screen.
            text += "\u{1b}[2J\u{1b}[H"
        } else if drawn > 0 {
            text += "\u{1b}[\(drawn)A"
        }
        for line in above { text += "\r\(StyledLine(line).plain)\u{1b}[K\n" }
        for line in lines { text += "\r\(line.text)\u{1b}[K\n" }
        // Below are lines of a taller picture before.
        text += "\u{1b}[J"
        drawn = lines.count
        self.columns = columns
        isTorn = false
        return text
    }

    /// The last text did not reach the terminal whole.
    mutating func tear() {
        isTorn = true
    }
}
