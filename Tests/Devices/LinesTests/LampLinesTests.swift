import Glibc
import Takes
import Testing

@testable import Lines

@Suite struct LampLinesTests {
    private func lamps(
        _ kernel: MadeUpKernel, _ outputs: [LampOutput?], errors: inout [LineError], directory: String = "/nonexistent"
    ) -> LampLines {
        LampLines(
            opening: outputs, errors: &errors, ledDirectory: directory, calls: kernel.calls, ledCalls: LEDCalls())
    }

    @Test func `only changes are written, and all lamps are dark at the end`() {
        let kernel = MadeUpKernel()
        var errors: [LineError] = []
        do {
            var lamps = lamps(
                kernel, [.line(OutputLine(.name("GPIO5"))), nil, .line(OutputLine(.name("GPIO6"), activeLow: true))],
                errors: &errors)
            kernel.clearLog()
            let errorsOfSet = [(0, false), (0, true), (0, true), (1, true), (2, true), (0, false), (0, false)]
                .compactMap { lamps.set($0, $1) }
            #expect(errorsOfSet.isEmpty)
        }
        #expect(errors.isEmpty)
        #expect(
            kernel.log == [
                "set 5 true", "set 6 true", "set 5 false", "set 5 false", "set 6 false", "release 5", "release 6",
            ])
    }

    @Test func `lines begin dark, as outputs without a pull`() {
        let kernel = MadeUpKernel()
        var errors: [LineError] = []
        _ = lamps(
            kernel, [.line(OutputLine(.name("GPIO5"))), .line(OutputLine(.name("GPIO6"), activeLow: true))],
            errors: &errors)
        #expect(
            kernel.log.filter { $0.hasPrefix("request") }
                == ["request 5 output pull none", "request 6 output low pull none"])
    }

    @Test func `what is missing is reported, and the rest works`() {
        let kernel = MadeUpKernel()
        kernel.failures[.request] = [EBUSY]
        var errors: [LineError] = []
        var lamps = lamps(
            kernel,
            [.line(OutputLine(.name("GPIO3"))), .line(OutputLine(.name("LED"))), .line(OutputLine(.name("GPIO6")))],
            errors: &errors)
        #expect(
            errors.map(\.description) == [
                "lamps: GPIO3: line 3 of gpiochip0 is busy: held by \"sysfs\"",
                "lamps: LED: no line of that name on any chip (there are the chips gpiochip0): "
                    + "\"fieldfare lines\" lists the names",
            ])
        #expect(errors.map(\.indices) == [[0], [1]])
        let errorsOfSet = [lamps.set(0, true), lamps.set(1, true), lamps.set(2, true)]
        #expect(errorsOfSet == [nil, nil, nil])
        #expect(kernel.log.last == "set 6 true")
    }

    @Test func `a line that cannot be set is reported once, and tried at each call`() {
        let kernel = MadeUpKernel()
        kernel.failures[.setValue] = [EIO, EINTR, EIO, EINTR]
        var errors: [LineError] = []
        var lamps = lamps(kernel, [.line(OutputLine(.name("GPIO5")))], errors: &errors)
        kernel.clearLog()
        let errorsOfSet = [true, false, false, false].map { lamps.set(0, $0)?.description }
        #expect(errorsOfSet == ["lamps: GPIO5: cannot set the line: Input/output error", nil, nil, nil])
        #expect(
            kernel.log == [
                "set 5 true", "set 5 false", "set 5 false", "set 5 false", "set 5 false",
            ])
        // After a success, the next failure is reported again.
        kernel.failures[.setValue] = [EIO]
        let again = lamps.set(0, true)?.description
        #expect(again == "lamps: GPIO5: cannot set the line: Input/output error")
    }

    @Test func `a check writes each state again, and finds what is gone`() {
        let kernel = MadeUpKernel()
        var errors: [LineError] = []
        var lamps = lamps(
            kernel, [.line(OutputLine(.name("GPIO5"))), .line(OutputLine(.name("GPIO6")))], errors: &errors)
        _ = lamps.set(0, true)
        kernel.clearLog()
        let healthy = lamps.check()
        #expect(healthy.isEmpty && kernel.log == ["set 5 true", "set 6 false"])
        kernel.alwaysFailing[.setValue] = ENODEV
        let lost = [lamps.check(), lamps.check()].map { $0.map(\.description) }
        #expect(lost == [["lamps: GPIO5, GPIO6: cannot set the line: No such device"], []])
        let missing = lamps.missing
        #expect(missing == [0, 1])
    }

    @Test func `a line that is gone is released, and opened dark once it is back`() {
        let kernel = MadeUpKernel()
        kernel.failures[.setValue] = [ENODEV]
        var errors: [LineError] = []
        var lamps = lamps(kernel, [nil, .line(OutputLine(.name("GPIO5")))], errors: &errors)
        let lost = [true, true].map { lamps.set(1, $0)?.description }
        #expect(lost == ["lamps: GPIO5: cannot set the line: No such device", nil])
        let missing = lamps.missing
        #expect(missing == [1])
        kernel.chips = []
        let still = lamps.openMissing().map(\.description)
        #expect(still == ["lamps: GPIO5: this machine has no GPIO chip (nothing is named /dev/gpiochip*)"])
        kernel.chips = [.pi]
        kernel.clearLog()
        let back = lamps.openMissing()
        #expect(back.isEmpty)
        let error = lamps.set(1, true)
        #expect(error == nil && kernel.log.suffix(2) == ["request 5 output pull none", "set 5 true"])
        let works = lamps.works(1)
        #expect(works)
    }
}
