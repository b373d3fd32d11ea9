import Panel
import Testing

@testable import Simulation

@Suite struct PanelPictureTests {
    private func picture(_ levels: [PanelReadout.Level]) -> PanelPicture {
        var picture = PanelPicture(lit: [.record], message: "record: heron07-0001")
        picture.readout.title = "Fieldfare 0   simulated"
        picture.readout.state = "recording heron07-0001"
        picture.readout.time = "0:01.2, on disk up to 0:01.0"
        picture.readout.levels = levels
        picture.readout.trouble = "fault 3: clock: not set"
        return picture
    }

    @Test func `it shows lamps, the state, levels, faults and the keys`() {
        let picture = picture([PanelReadout.Level(peak: -12, rms: -30), PanelReadout.Level(peak: nil, rms: nil)])
        #expect(
            picture.lines(columns: 62, glyphs: .unicode).map(\.plain) == [
                "  Fieldfare 0   simulated",
                "",
                "  ● record     ○ play     ○ upload     ○ fault     ",
                "",
                "  recording heron07-0001",
                "  0:01.2, on disk up to 0:01.0",
                "  1 ████████████████████▒▒▒▒▒▒▒▒▒▒▒▒········  -12.0 dBFS",
                "  2 ········································  silent",
                "  fault 3: clock: not set",
                "  record: heron07-0001",
                "",
                "  r record  s stop  p play  ← back  → forward  m mark  q quit",
            ])
    }

    @Test func `without Unicode it is the same in ASCII`() {
        let lines = picture([PanelReadout.Level(peak: 0, rms: -60)]).lines(columns: 62, glyphs: .ascii).map(\.plain)
        #expect(lines.allSatisfy { $0.utf8.count == $0.count })
        #expect(lines[2] == "  (*) record     ( ) play     ( ) upload     ( ) fault     ")
        #expect(lines[6] == "  1 ========================================    0.0 dBFS")
    }

    @Test func `no line is wider than the terminal, and a cut is marked`() {
        let lines = picture([PanelReadout.Level(peak: -1, rms: -2)]).lines(columns: 23, glyphs: .unicode).map(\.plain)
        #expect(lines.allSatisfy { $0.count <= 23 })
        #expect(lines[4] == "  recording heron07-00>")
    }

    @Test func `it is as tall without a fault and without a message`() {
        var bare = picture([])
        bare.readout.trouble = ""
        bare.message = ""
        #expect(
            bare.lines(columns: 80, glyphs: .unicode).count
                == picture([PanelReadout.Level(peak: -1, rms: -2)]).lines(columns: 80, glyphs: .unicode).count)
    }

    @Test func `a lit lamp has its colour`() {
        let lamps = picture([]).lines(columns: 80, glyphs: .unicode)[2].text
        #expect(lamps.contains("\u{1b}[1;31m●\u{1b}[m record"))
        #expect(lamps.contains("\u{1b}[2m○\u{1b}[m play"))
    }

    @Test func `a text cannot control the terminal`() {
        #expect(StyledLine("card\u{1b}[2J\u{9b}H\r\n").plain == "card [2J H  ")
    }
}

@Suite struct PanelScreenTests {
    private let lines = [StyledLine("one"), StyledLine("two")]

    @Test func `lines are drawn again in their place, below the messages that stay`() {
        var screen = PanelScreen()
        #expect(screen.draw(lines, columns: 80) == "\rone\u{1b}[K\n\rtwo\u{1b}[K\n\u{1b}[J")
        #expect(
            screen.draw(lines, above: ["a\u{7}b"], columns: 80)
                == "\u{1b}[2A\ra b\u{1b}[K\n\rone\u{1b}[K\n\rtwo\u{1b}[K\n\u{1b}[J")
    }

    @Test func `after a change of width, or a text that was cut off, the screen is cleared first`() {
        var screen = PanelScreen()
        _ = screen.draw(lines, columns: 80)
        #expect(screen.draw(lines, columns: 60).hasPrefix("\u{1b}[2J\u{1b}[H\rone"))
        #expect(screen.draw(lines, columns: 60).hasPrefix("\u{1b}[2A\rone"))
        screen.tear()
        #expect(screen.draw(lines, columns: 60).hasPrefix("\u{1b}[2J\u{1b}[H\rone"))
    }
}

@Suite struct MessagesTests {
    @Test func `messages are kept only while they are taken`() {
        let messages = Messages()
        #expect(!messages.post("one"))
        messages.open()
        #expect(messages.post("two"))
        #expect(messages.post("three"))
        #expect(messages.take() == ["two", "three"])
        #expect(messages.post("four"))
        #expect(messages.close() == ["four"])
        #expect(!messages.post("five"))
        #expect(messages.take() == [])
    }
}
