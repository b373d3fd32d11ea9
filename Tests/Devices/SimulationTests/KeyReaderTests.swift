import Testing

@testable import Simulation

@Suite struct KeyReaderTests {
    private func keys(_ texts: String...) -> [PanelKey] {
        var reader = KeyReader()
        return texts.flatMap { reader.keys(in: $0.utf8) }
    }

    @Test func `each key stands for its button, with and without caps lock`() {
        #expect(keys("rspmq") == [.record, .stop, .play, .mark, .quit])
        #expect(keys("RSPMQ") == [.record, .stop, .play, .mark, .quit])
    }

    @Test func `arrows are back and forward, in either mode of the keypad and with any modifier`() {
        #expect(keys("\u{1b}[D\u{1b}[C\u{1b}OD\u{1b}OC\u{1b}[1;5C") == [.back, .forward, .back, .forward, .forward])
    }

    @Test func `an arrow that comes in pieces is one key`() {
        #expect(keys("\u{1b}", "[", "C", "r") == [.forward, .record])
    }

    @Test func `no other key means anything, nor do the letters in its sequence`() {
        #expect(keys("xyz 1\n\t\u{7f}") == [])
        // F5, Home, up, Alt-r, a mouse button's release.
        #expect(keys("\u{1b}[15~\u{1b}[H\u{1b}[A\u{1b}r\u{1b}[<0;3;4m" + "s") == [.stop])
    }

    @Test func `after Escape alone, and after noise, keys count again`() {
        #expect(keys("\u{1b}", "\u{1b}[Cr") == [.forward, .record])
        #expect(keys("\u{1b}[" + String(repeating: "0", count: 100), "r").last == .record)
    }
}
