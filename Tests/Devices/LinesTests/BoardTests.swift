import Glibc
import Takes
import Testing

@testable import Lines

/// Runs on the test board with the kernel's own lines. Files under `/run/gpio` set and show their levels.
@Suite(.serialized, .enabled(if: access("/run/gpio", F_OK) == 0, "runs on the test board"))
struct BoardTests {
    private func pull(_ line: String, _ way: String) {
        let descriptor = open("/run/gpio/\(line)/pull", O_WRONLY)
        defer { close(descriptor) }
        let written = write(descriptor, way, way.utf8.count)
        #expect(written == way.utf8.count)
    }

    private func text(_ path: String) -> String {
        let descriptor = open(path, O_RDONLY)
        defer { close(descriptor) }
        var bytes: [UInt8] = Array(repeating: 0, count: 1000)
        let count = read(descriptor, &bytes, 1000)
        return String(decoding: bytes.prefix(max(0, count)).filter { $0 != 10 }, as: UTF8.self)
    }

    private func level(_ line: String) -> String {
        text("/run/gpio/\(line)/value")
    }

    /// Waits for at least `count` edges, and fails after half a minute without one.
    private func edges(_ lines: inout ButtonLines, _ count: Int) -> [LineEdge] {
        var edges: [LineEdge] = []
        while edges.count < count {
            var wait = pollfd(fd: lines.fileDescriptor, events: Int16(POLLIN), revents: 0)
            let ready = poll(&wait, 1, 30_000)
            #expect(ready == 1)
            guard ready == 1 else { return edges }
            let read = lines.readEdges()
            #expect(read.errors.isEmpty)
            edges += read.edges
        }
        return edges
    }

    @Test func `presses of several buttons come through one descriptor with the kernel's timestamps`() {
        var errors: [LineError] = []
        var lines = ButtonLines(
            opening: [InputLine(.name("BTN_RECORD")), nil, InputLine(.offset(chip: "pinctrl-bcm2835", offset: 5))],
            errors: &errors)
        #expect(errors.isEmpty)
        var idle = pollfd(fd: lines.fileDescriptor, events: Int16(POLLIN), revents: 0)
        let ready = poll(&idle, 1, 0)
        #expect(ready == 0)
        let clock = SystemClock()
        var instants = [clock.now()]
        var seen: [LineEdge] = []
        for (line, way) in [
            ("BTN_RECORD", "pull-down"), ("BTN_STOP", "pull-down"), ("BTN_RECORD", "pull-up"), ("BTN_STOP", "pull-up"),
        ] {
            pull(line, way)
            seen += edges(&lines, 1)
            instants.append(clock.now())
            let levels = [lines.isActive(0), lines.isActive(2)]
            #expect(levels.contains(true) == (instants.count < 5))
        }
        #expect(seen.map(\.index) == [0, 2, 0, 2])
        #expect(seen.map(\.isActive) == [true, true, false, false])
        for (place, edge) in seen.enumerated() {
            #expect(instants[place] < edge.at && edge.at < instants[place + 1])
        }
    }

    @Test func `more edges than the kernel keeps: the level is right nevertheless`() {
        var errors: [LineError] = []
        var lines = ButtonLines(opening: [InputLine(.name("BTN_PLAY"))], errors: &errors)
        for turn in 0..<101 { pull("BTN_PLAY", turn % 2 == 0 ? "pull-down" : "pull-up") }
        let level = lines.isActive(0)
        #expect(level == true)
        var instants = edges(&lines, 1).map(\.at)
        instants += lines.readEdges().edges.map(\.at)
        #expect(instants == instants.sorted())
        #expect(instants.count <= 101)
        pull("BTN_PLAY", "pull-up")
    }

    @Test func `a pull is the one that was requested`() {
        var errors: [LineError] = []
        let up = ButtonLines(opening: [InputLine(.name("GPIO24"), activeLow: false, pull: .up)], errors: &errors)
        let high = up.isActive(0)
        let down = ButtonLines(opening: [InputLine(.name("GPIO25"), activeLow: false, pull: .down)], errors: &errors)
        let low = down.isActive(0)
        #expect(errors.isEmpty)
        #expect([high, low] == [true, false])
    }

    @Test func `missing and held lines are reported, and the rest works`() {
        var errors: [LineError] = []
        var lines = ButtonLines(
            opening: [
                InputLine(.name("GPIO99")), InputLine(.name("KLED_ACT")), InputLine(.name("BTN_BACK")),
                InputLine(.name("BTN_BACK")), InputLine(.offset(chip: "gpiochip0", offset: 28)),
            ], errors: &errors)
        #expect(
            errors.map(\.description) == [
                "buttons: GPIO99: no line of that name on any chip (there are the chips gpiochip0): "
                    + "\"fieldfare lines\" lists the names",
                "buttons: KLED_ACT: line 22 of gpiochip0 is busy: held by \"ACT\"",
                "buttons: BTN_BACK: line 7 of gpiochip0 is busy: held by \"fieldfare\"",
                "buttons: gpiochip0 28: gpiochip0 has only the lines 0 to 27",
            ])
        pull("BTN_BACK", "pull-down")
        let seen = edges(&lines, 1)
        #expect(seen.map(\.index) == [2])
        pull("BTN_BACK", "pull-up")
    }

    @Test func `lamps follow, whichever level lights them, and are dark at the end`() {
        var errors: [LineError] = []
        do {
            var lamps = LampLines(
                opening: [
                    .line(OutputLine(.name("LED_RECORD"))), .line(OutputLine(.name("LED_PLAY"), activeLow: true)),
                ], errors: &errors)
            var seen = [level("LED_RECORD") + level("LED_PLAY")]
            for isLit in [true, false] {
                let errorsOfSet = [lamps.set(0, isLit), lamps.set(1, isLit)]
                #expect(errorsOfSet == [nil, nil])
                seen.append(level("LED_RECORD") + level("LED_PLAY"))
            }
            #expect(seen == ["01", "10", "01"])
            _ = lamps.set(0, true)
        }
        #expect(errors.isEmpty)
        #expect(level("LED_RECORD") == "0")
    }

    @Test func `an LED device is taken from the kernel's trigger`() {
        var errors: [LineError] = []
        do {
            var lamps = LampLines(opening: [.led("ACT"), .led("none such")], errors: &errors)
            #expect(text("/sys/class/leds/ACT/trigger").contains("[none]"))
            var seen = [level("KLED_ACT")]
            for isLit in [true, false, true] {
                let errorsOfSet = lamps.set(0, isLit)
                #expect(errorsOfSet == nil)
                seen.append(level("KLED_ACT"))
            }
            #expect(seen == ["0", "1", "0", "1"])
        }
        #expect(level("KLED_ACT") == "0")
        #expect(
            errors.map(\.description)
                == ["lamps: none such: no LED of that name in /sys/class/leds (there are ACT, status)"])
    }

    @Test func `all chips and lines are listed`() {
        var errors: [LineError] = []
        let held = ButtonLines(opening: [InputLine(.name("BTN_RECORD"))], errors: &errors)
        let list = GPIOChip.list()
        #expect(held.fileDescriptor >= 0 && errors.isEmpty && list.errors.isEmpty)
        #expect(list.chips.map(\.label) == ["pinctrl-bcm2835"])
        #expect(list.chips.first?.lines.count == 28)
        #expect(
            list.chips.first?.lines[4]
                == .init(
                    offset: 4, name: "BTN_RECORD", isOutput: false, isActiveLow: true, isUsed: true,
                    consumer: "fieldfare"))
        #expect(
            list.chips.first?.lines[22]
                == .init(
                    offset: 22, name: "KLED_ACT", isOutput: true, isActiveLow: false, isUsed: true, consumer: "ACT"))
    }
}
