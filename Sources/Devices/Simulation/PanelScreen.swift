/// Lines at the end of a terminal that are redrawn in place (ECMA-48 sequences).
struct PanelScreen {
    private var drawn = 0
    private var columns = 0
    private var isTorn = false

    /// The sequences that hide and show the cursor.
    static let begin = "\u{1b}[?25l"
    static let end = "\u{1b}[?25h"

    /// The text that replaces the previous lines by `lines`, and prints `above` permanently above them.
    mutating func draw(_ lines: [StyledLine], above: [String] = [], columns: Int) -> String {
        var text = ""
        if isTorn || (drawn > 0 && columns != self.columns) {
            // The position of lines that were wrapped or cut off is not known, so the screen is cleared.
            text += "\u{1b}[2J\u{1b}[H"
        } else if drawn > 0 {
            text += "\u{1b}[\(drawn)A"
        }
        for line in above { text += "\r\(StyledLine(line).plain)\u{1b}[K\n" }
        for line in lines { text += "\r\(line.text)\u{1b}[K\n" }
        // Clears the lines of a taller previous picture.
        text += "\u{1b}[J"
        drawn = lines.count
        self.columns = columns
        isTorn = false
        return text
    }

    /// Notes that the last text did not reach the terminal completely.
    mutating func tear() {
        isTorn = true
    }
}
