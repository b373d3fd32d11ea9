import Glibc
import TestBench
import Testing

@testable import Lines

@Suite struct ClassLEDTests {
    /// A folder with LED devices made of ordinary files.
    private func directory(_ names: String...) -> TestFolder {
        let directory = TestFolder()
        for name in names {
            directory.write("none [heartbeat] timer\n", to: "\(name)/trigger")
            directory.write("255\n", to: "\(name)/max_brightness")
            directory.write("255\n", to: "\(name)/brightness")
        }
        return directory
    }

    private func sentences(_ directory: String, _ name: String, _ calls: LEDCalls = LEDCalls()) -> [String] {
        var errors: [LineError] = []
        _ = LampLines(
            opening: [.led(name)], errors: &errors, ledDirectory: directory, calls: GPIOCalls(), ledCalls: calls)
        return errors.map(\.description)
    }

    @Test func `a device is taken from its trigger, lit at full brightness, and left dark`() {
        let directory = directory("ACT")
        var errors: [LineError] = []
        do {
            var lamps = LampLines(opening: [.led("ACT")], errors: &errors, ledDirectory: directory.path)
            // An ordinary file keeps the rest of a longer previous text; the kernel's files do not.
            #expect(directory.text("ACT/trigger")?.hasPrefix("none\n") == true)
            #expect(directory.text("ACT/brightness")?.hasPrefix("0\n") == true)
            directory.write("", to: "ACT/brightness")
            let lit = lamps.set(0, true)
            #expect(lit == nil)
            #expect(directory.text("ACT/brightness") == "255\n")
            directory.write("", to: "ACT/brightness")
            let same = lamps.set(0, true)
            #expect(same == nil)
            #expect(directory.text("ACT/brightness") == "")
            directory.write("", to: "ACT/brightness")
        }
        #expect(errors.isEmpty)
        #expect(directory.text("ACT/brightness") == "0\n")
    }

    @Test func `a device that is left shows a pattern of the kernel's, and is not put out`() {
        let directory = directory("status")
        directory.write("", to: "status/pattern")
        var errors: [LineError] = []
        do {
            var lamps = LampLines(opening: [.led("status")], errors: &errors, ledDirectory: directory.path)
            directory.write("", to: "status/brightness")
            directory.write("", to: "status/trigger")
            let left = lamps.leave(
                0,
                [
                    LampSegment(isLit: true, length: .milliseconds(200)),
                    LampSegment(isLit: false, length: .milliseconds(1300)),
                ], mayBlink: true)
            #expect(left == nil)
            #expect(directory.text("status/trigger") == "pattern\n")
            #expect(directory.text("status/pattern") == "255 200 255 0 0 1300 0 0\n")
        }
        #expect(errors.isEmpty)
        #expect(directory.text("status/brightness") == "")
    }

    @Test func `a pattern that may not be set is reported, and the device put out`() {
        let directory = directory("status")
        directory.write("", to: "status/pattern")
        var calls = LEDCalls()
        let open = calls.open
        calls.open = { path, flags throws(CallError) in
            if path.hasSuffix("/pattern") { throw CallError(code: EACCES) }
            return try open(path, flags)
        }
        var errors: [LineError] = []
        var error: LineError?
        do {
            var lamps = LampLines(
                opening: [.led("status")], errors: &errors, ledDirectory: directory.path, calls: GPIOCalls(),
                ledCalls: calls)
            directory.write("", to: "status/brightness")
            error = lamps.leave(0, [LampSegment(isLit: true, length: .milliseconds(200))], mayBlink: true)
        }
        #expect(
            error?.description
                == "lamps: status: cannot use \(directory.path)/status/pattern: Permission denied: "
                + "is the user in the group gpio, and the udev rule for LEDs installed?")
        #expect(directory.text("status/pattern") == "")
        #expect(directory.text("status/brightness") == "0\n")
    }

    /// The error and the files' texts after leaving a device on a kernel without these triggers.
    private func leave(without triggers: [String], mayBlink: Bool) -> (error: String?, files: [String?]) {
        let directory = directory("status")
        for file in ["delay_on", "delay_off"] { directory.write("", to: "status/\(file)") }
        var calls = LEDCalls()
        let write = calls.write
        calls.write = { descriptor, text throws(CallError) in
            if triggers.contains(where: { text == $0 + "\n" }) { throw CallError(code: EINVAL) }
            try write(descriptor, text)
        }
        var errors: [LineError] = []
        var error: LineError?
        do {
            var lamps = LampLines(
                opening: [.led("status")], errors: &errors, ledDirectory: directory.path, calls: GPIOCalls(),
                ledCalls: calls)
            for file in ["trigger", "brightness"] { directory.write("", to: "status/\(file)") }
            error = lamps.leave(0, [LampSegment(isLit: true, length: .milliseconds(200))], mayBlink: mayBlink)
        }
        let files = ["trigger", "delay_on", "delay_off", "brightness"].map { directory.text("status/\($0)") }
        return (error.map { $0.description.replacing(directory.path, with: "LEDS") }, files)
    }

    @Test func `a device of a kernel without patterns blinks steadily, and is not put out`() {
        let left = leave(without: ["pattern"], mayBlink: true)
        #expect(left.error == nil)
        #expect(left.files == ["timer\n", "200\n", "300\n", ""])
    }

    @Test(arguments: [(["pattern"], false), (["pattern", "timer"], true)])
    func `a device that may not or cannot blink is reported, and put out`(triggers: [String], mayBlink: Bool) {
        let left = leave(without: triggers, mayBlink: mayBlink)
        #expect(left.error == "lamps: status: cannot use LEDS/status/trigger: Invalid argument")
        #expect(left.files == ["", "", "", "0\n"])
    }

    @Test func `a device that has no patterns is reported, and put out`() {
        let directory = directory("status")
        var errors: [LineError] = []
        do {
            var lamps = LampLines(opening: [.led("status")], errors: &errors, ledDirectory: directory.path)
            directory.write("", to: "status/brightness")
            let left = lamps.leave(0, [LampSegment(isLit: true, length: .milliseconds(200))], mayBlink: true)
            #expect(
                left?.description
                    == "lamps: status: cannot use \(directory.path)/status/pattern: No such file or directory")
        }
        #expect(directory.text("status/brightness") == "0\n")
    }

    @Test func `the sentence about a missing device lists those that there are`() {
        let directory = directory("ACT", "status")
        #expect(
            sentences(directory.path, "mmc0::")
                == ["lamps: mmc0::: no LED of that name in \(directory.path) (there are ACT, status)"])
        #expect(sentences("/nonexistent", "ACT") == ["lamps: ACT: no LED of that name in /nonexistent (there is none)"])
        #expect(
            sentences(directory.path, "../ACT")
                == ["lamps: ../ACT: no LED of that name in \(directory.path) (there are ACT, status)"])
    }

    @Test(arguments: ["trigger", "max_brightness", "brightness"])
    func `the sentence about a missing file names it`(_ file: String) {
        let directory = directory("ACT")
        unlink("\(directory.path)/ACT/\(file)")
        #expect(
            sentences(directory.path, "ACT")
                == ["lamps: ACT: cannot use \(directory.path)/ACT/\(file): No such file or directory"])
    }

    @Test func `the sentence about a missing permission says what to do`() {
        let directory = directory("ACT")
        var calls = LEDCalls()
        calls.open = { _, _ throws(CallError) in throw CallError(code: EACCES) }
        #expect(
            sentences(directory.path, "ACT", calls) == [
                "lamps: ACT: cannot use \(directory.path)/ACT/trigger: Permission denied: "
                    + "is the user in the group gpio, and the udev rule for LEDs installed?"
            ])
    }

    @Test func `an interrupted write is done again`() {
        let directory = directory("ACT")
        var calls = LEDCalls()
        var failures = 6
        let write = calls.write
        calls.write = { descriptor, text throws(CallError) in
            failures -= 1
            if failures >= 0 { throw CallError(code: EINTR) }
            try write(descriptor, text)
        }
        #expect(sentences(directory.path, "ACT", calls).isEmpty)
        #expect(directory.text("ACT/brightness")?.hasPrefix("0\n") == true)
        #expect(failures < 0)
    }

    @Test func `a write that always fails is reported once, and the descriptor is closed`() {
        let directory = directory("ACT")
        var calls = LEDCalls()
        var isFailing = false
        var open = 0
        let (opening, write, close) = (calls.open, calls.write, calls.close)
        calls.open = { path, flags throws(CallError) in
            open += 1
            return try opening(path, flags)
        }
        calls.write = { descriptor, text throws(CallError) in
            if isFailing { throw CallError(code: EIO) }
            try write(descriptor, text)
        }
        calls.close = { descriptor in
            open -= 1
            close(descriptor)
        }
        do {
            var errors: [LineError] = []
            var lamps = LampLines(
                opening: [.led("ACT")], errors: &errors, ledDirectory: directory.path, calls: GPIOCalls(),
                ledCalls: calls)
            isFailing = true
            let errorsOfSet = [true, true, false].map { lamps.set(0, $0)?.description }
            #expect(
                errorsOfSet == [
                    "lamps: ACT: cannot use \(directory.path)/ACT/brightness: Input/output error", nil, nil,
                ])
            #expect(open == 1)
        }
        #expect(open == 0)
        isFailing = true
        #expect(
            sentences(directory.path, "ACT", calls)
                == ["lamps: ACT: cannot use \(directory.path)/ACT/trigger: Input/output error"])
        #expect(open == 0)
    }
}
