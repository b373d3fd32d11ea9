import Glibc
import Takes
import Testing

@testable import Lines

@Suite struct ButtonLinesTests {
    private func sentences(_ kernel: MadeUpKernel, _ inputs: [InputLine?]) -> [String] {
        var errors: [LineError] = []
        _ = ButtonLines(opening: inputs, errors: &errors, calls: kernel.calls)
        return errors.map(\.description)
    }

    private func edge(_ isActive: Bool, _ nanoseconds: Int64) -> RawEdge {
        RawEdge(isActive: isActive, at: Instant(nanoseconds: nanoseconds))
    }

    @Test func `lines are found by name, chip name, label and path, and are released`() {
        let kernel = MadeUpKernel(chips: [.pi, .expander])
        var errors: [LineError] = []
        do {
            let lines = ButtonLines(
                opening: [
                    InputLine(.name("LED"), activeLow: false, pull: .down), nil,
                    InputLine(.offset(chip: "gpiochip0", offset: 4)),
                    InputLine(.offset(chip: "pinctrl-bcm2711", offset: 5), pull: .none),
                    InputLine(.offset(chip: "/dev/gpiochip0", offset: 6)),
                ], errors: &errors, calls: kernel.calls)
            #expect(lines.fileDescriptor == 999)
            kernel.values[5] = true
            let levels = (0..<5).map { lines.isActive($0) }
            #expect(levels == [false, nil, false, true, false])
        }
        #expect(errors.isEmpty)
        #expect(
            kernel.log == [
                "open /dev/gpiochip0", "close /dev/gpiochip0", "open /dev/gpiochip1", "close /dev/gpiochip1",
                "request 1 input pull down", "poll 1001 as 0", "request 4 input low pull up", "poll 1004 as 2",
                "request 5 input low pull none", "poll 1005 as 3", "request 6 input low pull up", "poll 1006 as 4",
                "close 999", "release 1", "release 4", "release 5", "release 6",
            ])
    }

    @Test func `no lines, no descriptor`() {
        let kernel = MadeUpKernel()
        var errors: [LineError] = []
        var lines = ButtonLines(opening: [nil, nil], errors: &errors, calls: kernel.calls)
        #expect(lines.fileDescriptor == -1)
        let read = lines.readEdges()
        #expect(read.edges.isEmpty && read.errors.isEmpty && errors.isEmpty && kernel.log.isEmpty)
        let level = lines.isActive(1)
        #expect(level == nil)
    }

    @Test func `what is missing is one sentence each, and the rest works`() {
        let kernel = MadeUpKernel(chips: [.pi, .expander])
        kernel.failures[.request] = []
        let sentences = sentences(
            kernel,
            [
                InputLine(.name("GPIO17")), InputLine(.name("GPIO4")), InputLine(.name("GPIO27")),
                InputLine(.offset(chip: "gpiochip0", offset: 8)), InputLine(.offset(chip: "gpiochip9", offset: 1)),
            ])
        #expect(
            sentences == [
                "buttons: GPIO17, GPIO27: no line of that name on any chip (there are the chips gpiochip0, gpiochip1): "
                    + "\"fieldfare lines\" lists the names",
                "buttons: gpiochip0 8: gpiochip0 has only the lines 0 to 7",
                "buttons: gpiochip9 1: no chip has the name, label or path \"gpiochip9\" "
                    + "(there are gpiochip0 [pinctrl-bcm2711], gpiochip1 [pcf8574])",
            ])
        #expect(kernel.log.contains("request 4 input low pull up"))
    }

    @Test func `a machine without a chip is one sentence`() {
        #expect(
            sentences(MadeUpKernel(chips: []), [InputLine(.name("GPIO17")), InputLine(.name("GPIO27"))])
                == [
                    "buttons: GPIO17, GPIO27: this machine has no GPIO chip (nothing is named /dev/gpiochip*)"
                ])
    }

    @Test func `a chip that is denied is one sentence that says what to do`() {
        let kernel = MadeUpKernel()
        kernel.alwaysFailing[.openChip] = EACCES
        let sentence = "cannot open /dev/gpiochip0: Permission denied: is the user in the group gpio?"
        #expect(
            sentences(kernel, [InputLine(.name("GPIO17")), InputLine(.offset(chip: "gpiochip0", offset: 27))])
                == ["buttons: GPIO17, gpiochip0 27: \(sentence)"])
    }

    @Test(arguments: [MadeUpKernel.Call.chipInfo, .lineInfo])
    func `a chip that cannot be read is reported`(_ call: MadeUpKernel.Call) {
        let kernel = MadeUpKernel()
        kernel.alwaysFailing[call] = EIO
        #expect(
            sentences(kernel, [InputLine(.name("GPIO4"))])
                == ["buttons: GPIO4: cannot open /dev/gpiochip0: Input/output error"])
        #expect(kernel.log == ["open /dev/gpiochip0", "close /dev/gpiochip0", "close 999"])
    }

    @Test func `a line that is held names its holder`() {
        let kernel = MadeUpKernel()
        kernel.failures[.request] = [EBUSY]
        #expect(
            sentences(kernel, [InputLine(.name("GPIO3")), InputLine(.name("GPIO4"))])
                == ["buttons: GPIO3: line 3 of gpiochip0 is busy: held by \"sysfs\""])
        #expect(kernel.log.contains("poll 1004 as 1"))
    }

    @Test func `a line that is refused gives the reason`() {
        let kernel = MadeUpKernel()
        kernel.alwaysFailing[.request] = EINVAL
        #expect(
            sentences(kernel, [InputLine(.name("GPIO4"))])
                == ["buttons: GPIO4: cannot open line 4 of gpiochip0: Invalid argument"])
    }

    @Test func `without a poll set no line is taken`() {
        let kernel = MadeUpKernel()
        kernel.alwaysFailing[.createPoll] = EMFILE
        #expect(
            sentences(kernel, [InputLine(.name("GPIO4"))])
                == ["buttons: cannot wait for edges: Too many open files"])
        #expect(kernel.log.isEmpty)
    }

    @Test func `a line that cannot be waited for is released`() {
        let kernel = MadeUpKernel()
        kernel.failures[.addToPoll] = [ENOSPC]
        #expect(
            sentences(kernel, [InputLine(.name("GPIO4")), InputLine(.name("GPIO5"))])
                == ["buttons: GPIO4: cannot wait for edges: No space left on device"])
        #expect(
            kernel.log.filter { $0.hasPrefix("request") || $0.hasPrefix("release") } == [
                "request 4 input low pull up", "release 4", "request 5 input low pull up", "release 5",
            ])
    }

    @Test func `interrupting signals change nothing`() {
        let kernel = MadeUpKernel()
        let interrupted = [EINTR, EINTR, EINTR]
        kernel.failures = [
            .openChip: interrupted, .request: interrupted, .value: interrupted, .readEdges: interrupted,
            .poll: interrupted,
        ]
        kernel.reports = [PollReport(index: 0, isGone: false)]
        kernel.edges[4] = [[edge(true, 10)]]
        kernel.values[4] = true
        var errors: [LineError] = []
        var lines = ButtonLines(opening: [InputLine(.name("GPIO4"))], errors: &errors, calls: kernel.calls)
        let read = lines.readEdges()
        let level = lines.isActive(0)
        #expect(errors.isEmpty && read.errors.isEmpty)
        #expect(read.edges == [LineEdge(index: 0, isActive: true, at: Instant(nanoseconds: 10))])
        #expect(level == true)
        #expect(kernel.failures.values.joined().isEmpty)
    }

    @Test func `edges of all lines come in the order of their instants, to the last one`() {
        let kernel = MadeUpKernel()
        let many = (0..<40).map { edge($0 % 2 == 0, Int64($0) * 10) }
        kernel.edges[4] = [Array(many[0..<16]), Array(many[16..<32]), Array(many[32..<40])]
        kernel.edges[5] = [[edge(true, 155), edge(false, 1000)]]
        kernel.reports = [PollReport(index: 1, isGone: false), PollReport(index: 0, isGone: false)]
        var errors: [LineError] = []
        var lines = ButtonLines(
            opening: [InputLine(.name("GPIO4")), InputLine(.name("GPIO5"))], errors: &errors, calls: kernel.calls)
        let read = lines.readEdges()
        var expected = many.map { LineEdge(index: 0, isActive: $0.isActive, at: $0.at) }
        expected.insert(LineEdge(index: 1, isActive: true, at: Instant(nanoseconds: 155)), at: 16)
        expected.append(LineEdge(index: 1, isActive: false, at: Instant(nanoseconds: 1000)))
        #expect(read.edges == expected)
        #expect(read.errors.isEmpty)
    }

    @Test func `exactly as many edges as one read takes`() {
        let kernel = MadeUpKernel()
        kernel.edges[4] = [(0..<16).map { edge($0 % 2 == 0, Int64($0)) }]
        kernel.reports = [PollReport(index: 0, isGone: false)]
        var errors: [LineError] = []
        var lines = ButtonLines(opening: [InputLine(.name("GPIO4"))], errors: &errors, calls: kernel.calls)
        let read = lines.readEdges()
        #expect(read.edges.count == 16)
        #expect(read.errors.isEmpty)
    }

    @Test func `a poll that fails gives no edges, and works at the next call`() {
        let kernel = MadeUpKernel()
        kernel.failures[.poll] = [EBADF]
        kernel.reports = [PollReport(index: 0, isGone: false)]
        kernel.edges[4] = [[edge(true, 1)]]
        var errors: [LineError] = []
        var lines = ButtonLines(opening: [InputLine(.name("GPIO4"))], errors: &errors, calls: kernel.calls)
        let counts = (0..<2).map { _ in lines.readEdges().edges.count }
        #expect(counts == [0, 1])
    }

    @Test func `a line that goes away is reported once, released, and never polled again`() {
        let kernel = MadeUpKernel()
        kernel.alwaysFailing[.readEdges] = ENODEV
        kernel.reports = [PollReport(index: 0, isGone: false)]
        var errors: [LineError] = []
        var lines = ButtonLines(
            opening: [InputLine(.name("GPIO4")), InputLine(.name("GPIO5"))], errors: &errors, calls: kernel.calls)
        kernel.clearLog()
        let first = lines.readEdges()
        let second = lines.readEdges()
        let level = lines.isActive(0)
        #expect(
            first.errors.map(\.description)
                == ["buttons: GPIO4: the line went away: No such device: it is opened again once it is back"])
        #expect(first.errors[0].indices == [0])
        #expect(second.errors.isEmpty)
        #expect(kernel.log == ["unpoll 1004", "release 4"])
        #expect(level == nil)
    }

    @Test func `lines that are missing are opened when they are there, and the others are left alone`() {
        let kernel = MadeUpKernel(chips: [.expander])
        var errors: [LineError] = []
        var lines = ButtonLines(
            opening: [InputLine(.name("GPIO4")), nil, InputLine(.name("LED")), InputLine(.name("GPIO5"))],
            errors: &errors, calls: kernel.calls)
        #expect(errors.count == 1)
        let missing = lines.missing
        #expect(missing == [0, 3])
        let still = lines.openMissing().count
        #expect(still == 1)
        kernel.chips = [.pi, .expander]
        kernel.failures[.request] = [EBUSY]
        kernel.clearLog()
        let busy = lines.openMissing().map(\.indices)
        #expect(busy == [[0]])
        let last = lines.openMissing()
        #expect(last.isEmpty)
        #expect(
            kernel.log.filter { !$0.contains("/dev") } == [
                "request 5 input low pull up", "poll 1005 as 3", "request 4 input low pull up", "poll 1004 as 0",
            ])
        kernel.edges[4] = [[edge(true, 1)]]
        kernel.reports = [PollReport(index: 0, isGone: false)]
        let read = lines.readEdges().edges.map(\.index)
        let rest = lines.missing
        #expect(read == [0] && rest.isEmpty)
    }

    @Test func `a line that is gone at a check is reported once, and released`() {
        let kernel = MadeUpKernel()
        kernel.failures[.value] = [EINTR, ENODEV]
        var errors: [LineError] = []
        var lines = ButtonLines(
            opening: [InputLine(.name("GPIO4")), InputLine(.name("GPIO5"))], errors: &errors, calls: kernel.calls)
        kernel.clearLog()
        let reported = [lines.check(), lines.check()].map { $0.map(\.problem) }
        #expect(reported == [[.lost(code: ENODEV)], []])
        #expect(kernel.log == ["unpoll 1004", "release 4"])
        let levels = [lines.isActive(0), lines.isActive(1)]
        #expect(levels == [nil, false])
    }

    @Test func `a hang-up without an error from the read is the end too, after the last edges`() {
        let kernel = MadeUpKernel()
        kernel.reports = [PollReport(index: 0, isGone: true)]
        kernel.edges[4] = [[edge(true, 1)]]
        var errors: [LineError] = []
        var lines = ButtonLines(opening: [InputLine(.name("GPIO4"))], errors: &errors, calls: kernel.calls)
        let read = lines.readEdges()
        #expect(read.edges.count == 1)
        #expect(read.errors.map(\.problem) == [.lost(code: ENODEV)])
    }

    @Test func `a muted line is not polled, stays open, and is read once at a time`() {
        let kernel = MadeUpKernel()
        kernel.edges[4] = [[edge(true, 1), edge(false, 2)], [edge(true, 3)]]
        var errors: [LineError] = []
        var lines = ButtonLines(opening: [nil, InputLine(.name("GPIO4"))], errors: &errors, calls: kernel.calls)
        kernel.clearLog()
        lines.mute(1)
        let discarded = (0..<3).map { _ in lines.discardEdges(1) }
        #expect(discarded == [true, true, false])
        let isOpen = [lines.isOpen(0), lines.isOpen(1)]
        #expect(isOpen == [false, true])
        let error = lines.listen(1)
        #expect(error == nil)
        #expect(kernel.log == ["unpoll 1004", "poll 1004 as 1"])
    }

    @Test func `a muted line that cannot be polled again is reported and released`() {
        let kernel = MadeUpKernel()
        var errors: [LineError] = []
        var lines = ButtonLines(opening: [InputLine(.name("GPIO4"))], errors: &errors, calls: kernel.calls)
        lines.mute(0)
        kernel.failures[.addToPoll] = [ENOSPC]
        kernel.clearLog()
        let error = lines.listen(0)
        #expect(error?.description == "buttons: GPIO4: cannot wait for edges: No space left on device")
        #expect(kernel.log == ["release 4"])
        // An index without a line cannot be muted.
        lines.mute(0)
        let rest = lines.discardEdges(0)
        let none = lines.listen(0)
        #expect(!rest && none == nil)
    }

    @Test func `a line that never rests does not hold up the others`() {
        let kernel = MadeUpKernel()
        let full = (0..<16).map { edge($0 % 2 == 0, Int64($0)) }
        kernel.edges[4] = Array(repeating: full, count: 1000)
        kernel.edges[5] = [[edge(true, 1)]]
        kernel.reports = [PollReport(index: 0, isGone: false), PollReport(index: 1, isGone: false)]
        var errors: [LineError] = []
        var lines = ButtonLines(
            opening: [InputLine(.name("GPIO4")), InputLine(.name("GPIO5"))], errors: &errors, calls: kernel.calls)
        let read = lines.readEdges()
        #expect(read.edges.count == 257)
        #expect(read.edges.contains { $0.index == 1 })
    }

    @Test func `a level that cannot be read is nil`() {
        let kernel = MadeUpKernel()
        kernel.failures[.value] = [ENODEV]
        var errors: [LineError] = []
        let lines = ButtonLines(opening: [InputLine(.name("GPIO4"))], errors: &errors, calls: kernel.calls)
        let levels = (0..<2).map { _ in lines.isActive(0) }
        #expect(levels == [nil, false])
    }
}
