import Testing

@testable import Settings

struct PanelTests {
    private func parse(_ text: String) -> (panel: Settings.Panel, sentences: [String]) {
        let (settings, problems) = Settings.parse(text, file: "f")
        return (settings.panel, problems.map(\.description))
    }

    @Test(arguments: [
        ("\"GPIO9\"", "\"GPIO9\" (a string)"),
        ("{ }", "an empty table"),
        ("{ chip = \"gpiochip0\" }", "a table with chip"),
        ("{ line = \"A\", offset = 3 }", "a table with line, offset"),
        ("{ line = \"A\", chip = \"c\", offset = 3 }", "a table with line, chip, offset"),
        ("{ active_low = true }", "a table with active_low"),
    ])
    func `a line that is not named in one way is not read, and not replaced by its default`(
        _ value: String, _ found: String
    ) {
        let (panel, sentences) = parse("panel.buttons.record = \(value)")
        let permission = #"allowed are { line = "NAME" }, { chip = "CHIP", offset = N } or "none""#
        #expect(sentences == ["f:1: panel.buttons.record: found \(found): \(permission)"])
        var expected = Settings.Panel()
        expected.buttons.record = nil
        #expect(panel == expected)
    }

    @Test(arguments: ["{ led = \"ACT\", line = \"A\" }", "{ led = \"ACT\", active_low = true }"])
    func `a LED device takes nothing beside its name`(_ value: String) {
        let (panel, sentences) = parse("panel.leds.fault = \(value)")
        let found = value.contains("line") ? "led, line" : "led, active_low"
        let permission = #"allowed are { line = "NAME" }, { chip = "CHIP", offset = N }, { led = "NAME" } or "none""#
        #expect(sentences == ["f:1: panel.leds.fault: found a table with \(found): \(permission)"])
        var expected = Settings.Panel()
        expected.leds.fault = nil
        #expect(panel == expected)
    }

    @Test func `a wrong key within a line leaves it unread`() {
        let (panel, sentences) = parse("[panel.buttons]\nstop = { line = \"A\", pull = \"middle\" }")
        #expect(
            sentences == [
                #"f:2: panel.buttons.stop.pull: found "middle" (a string): allowed are "up", "down" or "none""#
            ])
        var expected = Settings.Panel()
        expected.buttons.stop = nil
        #expect(panel == expected)
    }

    @Test func `one lamp for all puts the others out of use`() {
        let (panel, sentences) = parse("panel.leds.all = { line = \"GPIO5\" }")
        #expect(sentences == [])
        #expect(panel.leds == .init(record: nil, play: nil, upload: nil, fault: nil, all: .line(.name("GPIO5"))))
    }

    @Test func `a lamp for all that cannot be read lights nothing`() {
        let (panel, sentences) = parse("panel.leds.all = 5")
        #expect(sentences.count == 1)
        #expect(panel.leds == .init(record: nil, play: nil, upload: nil, fault: nil, all: nil))
    }

    @Test func `a lamp for all beside others is disconnected`() {
        let text = "[panel.leds]\nplay = { line = \"B\" }\nall = { line = \"A\" }\nfault = \"none\""
        let (panel, sentences) = parse(text)
        #expect(
            sentences == [
                "f:3: panel.leds.all: found beside panel.leds.play and panel.leds.fault: "
                    + "allowed is one lamp for all alone"
            ])
        #expect(panel.leds == .init(record: nil, play: .line(.name("B")), upload: nil, fault: nil, all: nil))
    }

    @Test func `of two on one line, the first in the file keeps it`() {
        let (panel, sentences) = parse(
            """
            [panel.buttons]
            stop = { chip = "c", offset = 3 }
            record = { chip = "c", offset = 3, active_low = false }
            """)
        #expect(
            sentences == [
                "f:3: panel.buttons.record: found line 3 of c, which panel.buttons.stop has: allowed is one of its own"
            ])
        #expect(panel.buttons.record == nil)
        #expect(panel.buttons.stop == .init(.offset(chip: "c", offset: 3)))
    }

    @Test func `a button keeps its line before a lamp`() {
        let (panel, sentences) = parse(
            "[panel.leds]\nrecord = { line = \"X\" }\n[panel.buttons]\nrecord = { line = \"X\" }")
        #expect(
            sentences == [
                #"f:2: panel.leds.record: found line "X", which panel.buttons.record has: allowed is one of its own"#
            ])
        #expect(panel.buttons.record == .init(.name("X")))
        #expect(panel.leds.record == nil)
    }

    @Test func `what has a line by default loses it to what the file names`() {
        let (panel, sentences) = parse("panel.leds.record = { line = \"GPIO22\" }")
        #expect(
            sentences == [
                #"f:1: panel.leds.record: found line "GPIO22", which panel.buttons.play has by default: "#
                    + #"allowed is one of its own, or panel.buttons.play = "none""#
            ])
        #expect(panel.buttons.play == nil)
        #expect(panel.leds.record == .line(.name("GPIO22")))
    }

    @Test func `two lamps on one LED device are reported`() {
        let (panel, sentences) = parse("[panel.leds]\nrecord = { led = \"ACT\" }\nfault = { led = \"ACT\" }")
        #expect(
            sentences == [
                #"f:3: panel.leds.fault: found LED "ACT", which panel.leds.record has: allowed is one of its own"#
            ])
        #expect(panel.leds.fault == nil)
    }
}
